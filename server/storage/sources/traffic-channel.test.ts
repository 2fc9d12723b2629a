import { describe, expect, test } from 'bun:test'
import { KNOWN_SOURCES } from './known-sources.ts'
import { readSource, type TrafficChannel, toSource, toTrafficChannel, toWord } from './traffic-channel.ts'

describe('a referrer', () => {
  test.each([
    ['l.facebook.com', 'Facebook'],
    ['m.facebook.com', 'Facebook'],
    ['lm.facebook.com', 'Facebook'],
    ['com.facebook.katana', 'Facebook'],
    ['t.co', 'X'],
    ['google.co.uk', 'Google'],
    ['google.de', 'Google'],
    ['com.google.android.googlequicksearchbox', 'Google'],
    ['mail.google.com', 'Gmail'],
    ['com.google.android.gm', 'Gmail'],
    ['gemini.google.com', 'Gemini'],
    ['chatgpt.com', 'ChatGPT'],
    ['old.reddit.com', 'Reddit'],
    ['de.wikipedia.org', 'Wikipedia'],
    ['eur02.safelinks.protection.outlook.com', 'Outlook'],
    ['us3.campaign-archive.com', 'Mailchimp'],
    // Hosts that only look like a known one.
    ['notfacebook.com', 'notfacebook.com'],
    ['facebook.com.evil.example', 'facebook.com.evil.example'],
    ['google.evil.example', 'google.evil.example'],
    ['news.example', 'news.example'],
    ['com', 'com'],
    ['', ''],
    [null, null],
  ])('from %s has the source %s', (referrer, source) => {
    expect(toSource({ referrer })).toBe(source)
  })

  test.each([
    ['facebook', 'Facebook'],
    ['FACEBOOK', 'Facebook'],
    ['www.facebook.com', 'Facebook'],
    ['m.facebook.com', 'Facebook'],
    ['News.example', 'news.example'],
    ['you.com', 'You.com'],
  ])('is also found by what people write: %s', (text, source) => {
    expect(readSource(text)).toBe(source)
  })
})

describe('the channel', () => {
  test.each<[string | null, string | null, string | null, TrafficChannel]>([
    // referrer, utm_source, utm_medium
    [null, null, null, 'direct'],
    ['google.com', null, null, 'search'],
    ['l.instagram.com', null, null, 'social'],
    ['youtube.com', null, null, 'social'],
    ['mail.yahoo.com', null, null, 'email'],
    ['chatgpt.com', null, null, 'referral'],
    ['github.com', null, null, 'referral'],
    ['news.example', null, null, 'referral'],
    // The medium decides first, and then the source of the campaign.
    ['google.com', 'google', 'cpc', 'paid'],
    ['google.com', 'newsletter', null, 'email'],
    [null, 'facebook', 'paid_social', 'paid'],
    [null, 'facebook', 'Paid Social', 'paid'],
    [null, 'x', 'PPC', 'paid'],
    [null, 'partner', 'display', 'paid'],
    [null, 'spring', 'E-Mail', 'email'],
    [null, 'spring', 'e_mail', 'email'],
    ['t.co', 'spring', 'email', 'email'],
    [null, 'spring', 'social', 'social'],
    [null, 'spring', 'organic', 'search'],
    [null, 'spring', 'affiliate', 'referral'],
    [null, 'fb', null, 'social'],
    [null, 'Hacker News', 'story', 'social'],
    [null, 'chatgpt.com', null, 'referral'],
    [null, 'google-ads', null, 'paid'],
    [null, 'Google', null, 'search'],
    // Words without a rule leave it to the referrer.
    ['t.co', 'spring', 'sms', 'social'],
    [null, 'spring', 'sms', 'direct'],
    ['', null, '', 'direct'],
  ])('of referrer %s, source %s, medium %s is %s', (referrer, utmSource, utmMedium, channel) => {
    expect(toTrafficChannel({ referrer, utmSource, utmMedium })).toBe(channel)
  })
})

describe('the list of known sources', () => {
  const findRepeated = (texts: string[]) => texts.filter((text, index) => texts.indexOf(text) !== index)

  test('has each name and each host once, and each word for one source only', () => {
    expect(findRepeated(KNOWN_SOURCES.map(({ name }) => name.toLowerCase()))).toEqual([])
    expect(findRepeated(KNOWN_SOURCES.flatMap(({ hosts }) => hosts))).toEqual([])
    expect(findRepeated(KNOWN_SOURCES.flatMap(({ words }) => [...new Set(words.map(toWord))]))).toEqual([])
  })

  test('has hosts as referrers are stored, and names that any engine stores', () => {
    for (const { name, hosts } of KNOWN_SOURCES) {
      expect(name).toMatch(/^[\w .-]{1,40}$/)
      for (const host of hosts) {
        expect(host).toMatch(/^(?!www\.)[a-z0-9_-]+(\.[a-z0-9_-]+){0,5}$/)
        expect(host.length).toBeLessThanOrEqual(64)
      }
    }
  })
})
