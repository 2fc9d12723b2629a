import { beforeAll, describe, expect, test } from 'bun:test'
import { addVerifiedDomain } from '../../../tests/support/server/verified-domain.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  onSqlite,
  type TestWorkspace,
} from '../../../tests/support/world.ts'
import { readTags, type Tag } from '../../lib/html/read-tags.ts'
import { isBot } from '../visitors/is-bot.ts'
import { expectVisitorPage, readRecordedHits } from './redirect.fixture.ts'
import { isUnfurler, UNFURLERS } from './unfurlers.ts'

/** The user agent of each service. */
const USER_AGENTS: Record<string, string[]> = {
  Facebook: [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'facebookexternalhit/1.1;line-poker/1.0',
    'facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984',
  ],
  X: ['Twitterbot/1.0'],
  Slack: [
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Slackbot 1.0 (+https://api.slack.com/robots)',
  ],
  Discord: ['Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)'],
  WhatsApp: ['WhatsApp/2.23.20.0', 'WhatsApp/2.23.18.78 i'],
  Signal: ['WhatsApp/2'],
  Telegram: ['TelegramBot (like TwitterBot)'],
  LinkedIn: ['LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)'],
  iMessage: [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  ],
  'Microsoft Teams and Skype': [
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
    'Mozilla/5.0 (compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview)',
  ],
  Pinterest: [
    'Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)',
    'Pinterest/0.2 (+https://www.pinterest.com/bot.html)',
  ],
  Reddit: ['Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)'],
  Mastodon: [
    'Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/) Bot',
    'http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.social/) Bot',
  ],
  Bluesky: ['Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)'],
  'Google Chat and Messages': [
    'Google-Chat/1.0',
    'Mozilla/5.0 Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)',
    'Mozilla/5.0 (Windows NT 6.1; rv:6.0) Gecko/20110814 Firefox/6.0 Google (+https://developers.google.com/+/web/snippet/)',
  ],
  Snapchat: [
    'Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots',
    'Mozilla/5.0 (compatible; SnapURLPreview/1.0; +https://www.snapchat.com)',
  ],
  VK: ['Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)'],
  Viber: ['Viber'],
  Matrix: ['Synapse (bot; +https://github.com/matrix-org/synapse)'],
  Misskey: ['Mozilla/5.0 (compatible; SummalyBot/5.0.2)'],
  Iframely: ['Iframely/1.3.1 (+https://iframely.com/docs/about)'],
  Embedly: ['Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)', 'Embedly +support@embed.ly'],
}

/** People inside the services' own apps, search engines, and programs: they get the redirect. */
const OTHERS = [
  BROWSER_USER_AGENT,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F90 [FBAN/FBIOS;FBAV/465.0]',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Twitter for iPhone/10.44',
  'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36 [Pinterest/Android]',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) [LinkedInApp]/9.29',
  'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36 Telegram-Android/11.0',
  'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36 Snapchat/12.90',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'curl/8.5.0',
  '',
]

const CARD = {
  previewTitle: 'The “spring” blend & more',
  previewDescription: 'Washed, from Huila.',
  previewImage: 'https://cdn.example.com/card.png?w=1200&h=630',
}
const SLACK = { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
const HIDDEN = 'https://hidden.example/'

/** The `meta` elements of a page, decoded, by `property`, `name` or `http-equiv`. */
function readMetas(text: string): Record<string, string> {
  const decode = (value: string) =>
    value
      .replace(/&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
  return Object.fromEntries(
    [...text.matchAll(/<meta (?:property|name|http-equiv)="([^"]+)" content="([^"]*)">/g)].map(
      ([, name, value]) => [name as string, decode(value as string)],
    ),
  )
}

describe('the list of unfurlers', () => {
  test('has a source and an example for each, and each example is a robot to the analytics', () => {
    expect(UNFURLERS.map(({ name }) => name)).toEqual(Object.keys(USER_AGENTS))
    for (const { name, pattern, source } of UNFURLERS) {
      expect(source).toStartWith('https://')
      for (const userAgent of USER_AGENTS[name] ?? []) {
        expect([userAgent, new RegExp(pattern, 'i').test(userAgent)]).toEqual([userAgent, true])
        // Else its requests would count as clicks of people, and use up click limits.
        expect([userAgent, isBot(userAgent)]).toEqual([userAgent, true])
      }
    }
  })

  test('has no browser, no app of a service, no search engine, and takes no time for a long user agent', () => {
    for (const userAgent of OTHERS) expect([userAgent, isUnfurler(userAgent)]).toEqual([userAgent, false])
    expect(isUnfurler(null)).toBe(false)
    expect(isUnfurler(`${'applewebkit '.repeat(10_000)}Slackbot`)).toBe(false)
  })
})

onSqlite('A link with a social card', (server) => {
  let ws: TestWorkspace
  beforeAll(async () => {
    ws = await server().createWorkspace()
  })

  test.each(Object.entries(USER_AGENTS))('shows it to %s', async (_, userAgents) => {
    const { slug, shortUrl } = await ws.createLink({
      ...CARD,
      destinationUrl: 'https://example.com/a?b=1&c=2',
    })
    for (const userAgent of userAgents) {
      const answer = await server().call(`/${slug}`, { headers: { 'User-Agent': userAgent } })
      expect([userAgent, answer.status, answer.headers.get('location')]).toEqual([userAgent, 200, null])
      expect(readMetas(answer.text)).toMatchObject({
        'og:type': 'website',
        'og:url': shortUrl,
        'og:title': CARD.previewTitle,
        'og:description': CARD.previewDescription,
        'og:image': CARD.previewImage,
        'twitter:card': 'summary_large_image',
        'twitter:title': CARD.previewTitle,
        'twitter:description': CARD.previewDescription,
        'twitter:image': CARD.previewImage,
        refresh: '0; url=https://example.com/a?b=1&c=2',
      })
    }
  })

  test('redirects everybody else', async () => {
    const { slug } = await ws.createLink(CARD)
    for (const userAgent of OTHERS) {
      const answer = await server().call(`/${slug}`, { headers: { 'User-Agent': userAgent } })
      expect([userAgent, answer.status, answer.text]).toEqual([userAgent, 302, ''])
    }
  })

  test('is a page like the others: not indexed, not cached, without scripts and cookies', async () => {
    const { slug, shortUrl } = await ws.createLink(CARD)
    const answer = await server().call(`/${slug}`, { headers: SLACK })
    expect(answer.text).toContain(`<link rel="canonical" href="${shortUrl}">`)
    expectVisitorPage({ ...answer, text: answer.text.replace(/<link rel="canonical"[^>]*>/, '') })
    expect(answer.headers.get('set-cookie')).toBeNull()
    const head = await server().call(`/${slug}`, { method: 'HEAD', headers: SLACK })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-type', 'content-security-policy', 'x-robots-tag', 'cache-control'])
      expect(head.headers.get(name)).toBe(answer.headers.get(name))
  })

  test('takes one field alone, and names the site where it has no title', async () => {
    const fields = { title: 'For the team', destinationUrl: 'https://shop.example.com/x' }
    const image = await ws.createLink({ ...fields, previewImage: CARD.previewImage })
    const page = await server().call(`/${image.slug}`, { headers: SLACK })
    expect(readMetas(page.text)).toMatchObject({
      'og:title': 'shop.example.com',
      'og:image': CARD.previewImage,
    })
    expect(page.text).not.toMatch(/og:description|twitter:description|For the team/)
    const title = await ws.createLink({ ...fields, previewTitle: 'Only a title' })
    const text = await server().call(`/${title.slug}`, { headers: SLACK })
    expect(readMetas(text.text)).toMatchObject({ 'og:title': 'Only a title', 'twitter:card': 'summary' })
    expect(text.text).not.toMatch(/og:image|twitter:image/)
    const none = await ws.createLink(fields)
    expect((await server().call(`/${none.slug}`, { headers: SLACK })).status).toBe(302)
  })

  test('escapes hostile texts and URLs', async () => {
    const hostile = `"><script>alert(1)</script><meta http-equiv="refresh" content="0;url=javascript:alert(2)">`
    const { slug } = await ws.createLink({
      previewTitle: hostile,
      previewDescription: `</title></style>${hostile}<img src=x onerror=alert(3)>`,
      previewImage: `https://cdn.example.com/'"><script>alert(4)</script>?q="onload="x`,
      destinationUrl: `https://example.com/'"><script>alert(5)</script>?q='onmouseover='x`,
    })
    const { text } = await server().call(`/${slug}`, { headers: SLACK })
    const tags: Tag[] = []
    await readTags(text, (tag) => tags.push(tag))
    const names = tags.filter(({ end }) => !end).map(({ name }) => name)
    const own = ['html', 'head', 'meta', 'title', 'link', 'style', 'body', 'main', 'h1', 'p', 'a']
    expect([...new Set(names)].sort()).toEqual(own.sort())
    expect(tags.filter(({ attributes }) => attributes.has('http-equiv'))).toHaveLength(1)
    const attributes = new Set(tags.flatMap((tag) => [...tag.attributes.keys()]))
    expect([...attributes].filter((name) => name.startsWith('on'))).toEqual([])
    const metas = readMetas(text)
    expect(metas['og:title']).toBe(hostile)
    expect(metas.refresh).toStartWith('0; url=https://example.com/')
    expect(metas['og:image']).toStartWith('https://cdn.example.com/')
  })

  test('leads where the redirect would: by device, with the query and the click id', async () => {
    const { slug } = await ws.createLink({
      ...CARD,
      deviceTargeting: { desktop: 'https://desktop.example/' },
      forwardQuery: true,
      trackConversions: true,
    })
    const { text } = await server().call(`/${slug}?a=1`, { headers: SLACK })
    expect(readMetas(text).refresh).toMatch(/^0; url=https:\/\/desktop\.example\/\?a=1&tp_cid=[\w.-]+$/)
  })

  const CLOSED: [string, Record<string, unknown>, number][] = [
    ['with a password', { password: 'x' }, 200],
    ['archived', { archived: true }, 404],
    ['not started', { startsAt: '2100-01-01T00:00:00.000Z' }, 404],
    ['expired', { expiresAt: '2020-01-01T00:00:00.000Z' }, 410],
    [
      'expired with an expiration URL',
      { expiresAt: '2020-01-01T00:00:00.000Z', expiredUrl: 'https://example.com/over' },
      302,
    ],
  ]
  test.each(CLOSED)('shows neither card nor destination of a link that is %s', async (_, fields, status) => {
    const { slug } = await ws.createLink({ ...CARD, destinationUrl: HIDDEN, ...fields })
    const answer = await server().call(`/${slug}`, { headers: SLACK })
    expect(answer.status).toBe(status)
    expect(answer.text).not.toMatch(/hidden\.example|spring|Huila|cdn\.example/)
  })

  test('shows neither once its clicks are used up, it is suspended or its password was wrong', async () => {
    const used = await ws.createLink({ ...CARD, destinationUrl: HIDDEN, clickLimit: 1 })
    for (let n = 0; n < 3; n++)
      expect((await server().call(`/${used.slug}`, { headers: SLACK })).text).toContain('hidden.example')
    expect((await server().click(used.slug)).status).toBe(302)
    const over = await server().call(`/${used.slug}`, { headers: SLACK })
    expect([over.status, over.text.includes('hidden.example')]).toEqual([410, false])

    const suspended = await ws.createLink({ ...CARD, destinationUrl: HIDDEN })
    await server().update('links', { id: suspended.id }, { suspended_at: 1 })
    const blocked = await server().call(`/${suspended.slug}`, { headers: SLACK })
    expect([blocked.status, /hidden\.example|Huila/.test(blocked.text)]).toEqual([451, false])

    const locked = await ws.createLink({ ...CARD, destinationUrl: HIDDEN, password: 'x' })
    const submit = (password: string) =>
      server().post(`/${locked.slug}`, `password=${password}`, {
        ...SLACK,
        'Content-Type': 'application/x-www-form-urlencoded',
      })
    const wrong = await submit('y')
    expect([wrong.status, wrong.text.includes('hidden.example')]).toEqual([403, false])
    expect((await submit('x')).status).toBe(303)
  })

  test('is counted as a robot’s visit', async () => {
    const { id, slug } = await ws.createLink(CARD)
    await server().call(`/${slug}`, { headers: SLACK })
    await server().call(`/${slug}`, { method: 'HEAD', headers: SLACK })
    const hits = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
    expect(hits).toMatchObject([
      { outcome: 'redirect', class: 'bot' },
      { outcome: 'redirect', class: 'head' },
    ])
    expect((await ws.api(`/links/${id}`)).json.data.clicks).toBe(0)
  })

  test('names the short URL on the domain of its workspace', async () => {
    const own = await server().createWorkspace()
    const name = `cards-${own.id}.example`
    await addVerifiedDomain(server(), own.id, name)
    const { slug, shortUrl } = await own.createLink({ ...CARD, domain: name })
    expect(shortUrl).toBe(`http://${name}:${new URL(server().origin).port}/${slug}`)
    for (let n = 0; n < 2; n++) {
      const there = await server().call(`/${slug}`, { headers: { ...SLACK, Host: name } })
      expect(readMetas(there.text)['og:url']).toBe(shortUrl)
      expect((await server().call(`/${slug}`, { headers: SLACK })).status).toBe(404)
    }
  })

  test('changes with the next request', async () => {
    const { id, slug } = await ws.createLink({})
    const ask = () => server().call(`/${slug}`, { headers: SLACK })
    expect((await ask()).status).toBe(302)
    await ws.patch(`/links/${id}`, { previewTitle: 'First' })
    expect(readMetas((await ask()).text)['og:title']).toBe('First')
    await ws.patch(`/links/${id}`, { previewTitle: 'Second' })
    expect(readMetas((await ask()).text)['og:title']).toBe('Second')
    await ws.patch(`/links/${id}`, { previewTitle: null })
    expect((await ask()).status).toBe(302)
  })
})

onBothEngines('The fields of a social card', (server) => {
  test('are stored, changed and cleared, and null when absent', async () => {
    const ws = await server().createWorkspace()
    expect(await ws.createLink({})).toMatchObject({
      previewTitle: null,
      previewDescription: null,
      previewImage: null,
    })
    const link = await ws.createLink(CARD)
    expect(link).toMatchObject(CARD)
    expect((await ws.api(`/links/${link.id}`)).json.data).toMatchObject(CARD)
    expect((await ws.api('/links')).json.data[0]).toMatchObject(CARD)
    const body = { previewImage: null, previewDescription: 'New' }
    const changed = await ws.patch(`/links/${link.id}`, body)
    expect(changed.json.data).toMatchObject({ ...CARD, ...body })
    const many = await ws.patch('/links/bulk', { ids: [link.id], data: CARD })
    expect(many.json.data).toMatchObject([CARD])
    const upsert = { destinationUrl: link.destinationUrl, externalId: 'e', ...CARD }
    expect((await ws.put('/links/upsert', upsert)).json.data).toMatchObject(CARD)
    await ws.delete(`/links/${link.id}`)
    expect((await ws.api('/links/trash')).json.data[0]).toMatchObject(CARD)
  })

  test('have limits in characters, and the image is an https URL', async () => {
    const ws = await server().createWorkspace()
    const ask = (fields: object) => ws.post('/links', { destinationUrl: 'https://example.com/', ...fields })
    const longest = { previewTitle: '🌱'.repeat(120), previewDescription: 'é'.repeat(240) }
    expect((await ask(longest)).json.data).toMatchObject(longest)
    const wrong = await ask({ previewTitle: 'x'.repeat(121), previewDescription: 'x'.repeat(241) })
    expect(wrong.json.errors).toEqual({
      previewTitle: 'must be at most 120 characters',
      previewDescription: 'must be at most 240 characters',
    })
    const host = new URL(server().origin).host
    for (const [previewImage, message] of [
      ['http://cdn.example.com/a.png', 'must be an https URL'],
      ['javascript:alert(1)', 'must be an https URL'],
      ['data:image/png;base64,AAAA', 'must be an https URL'],
      ['/card.png', 'must be an https URL'],
      ['https://me:secret@cdn.example.com/a.png', 'must not contain a user name or password'],
      [`https://${host}/a.png`, 'must not point to a short domain of this server'],
      ['', 'must not be empty'],
      [7, 'must be a string'],
    ])
      expect([previewImage, (await ask({ previewImage })).json.errors]).toEqual([
        previewImage,
        { previewImage: message },
      ])
  })
})
