// The fast path (http/fast-path/listener.ts) and the server behind it answer a redirect alike: a visitor cannot tell
// which of them answered.

import { beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { BROWSER_USER_AGENT, onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'

const FAR = '2100-01-01T00:00:00.000Z'
const PAST = '2020-01-01T00:00:00.000Z'
const at = (path: string) => `https://example.com/${path}`

const LINKS: [string, Record<string, unknown>][] = [
  ['a plain link', {}],
  ['one for ever', { redirectStatus: 308 }],
  ['one that hands its query on', { forwardQuery: true, destinationUrl: at('?own=1&a=0#part') }],
  ['one that names the click', { trackConversions: true, destinationUrl: at('?a=1') }],
  ['one by device', { deviceTargeting: { ios: at('ios'), android: at('android') } }],
  ['one by country', { geoTargeting: { US: at('us') } }],
  ['one that is over and leads on', { expiresAt: PAST, expiredUrl: at('over') }],
  ['one that is over', { expiresAt: PAST }],
  ['one that is not open yet', { startsAt: FAR }],
  ['one with a date', { startsAt: PAST, expiresAt: FAR, expiredUrl: at('over') }],
  ['an archived one', { archived: true }],
  ['one with a password', { password: 'x' }],
  ['one with a limit', { clickLimit: 1000 }],
  ['one with a social card', { previewTitle: 'Spring', previewImage: at('card.png') }],
  ['one with a card and a device', { previewTitle: 'Spring', deviceTargeting: { ios: at('ios') } }],
  ['one with a campaign', { utmSource: 'mail', utmCampaign: 'spring' }],
]

/** Sends one request over its own connection. @param unusual a header that makes the fast path hand the request on */
function ask(origin: string, target: string, headers: Record<string, string>, unusual: boolean) {
  const url = new URL(origin)
  const lines = { Host: url.host, ...headers, Connection: 'close', ...(unusual ? { TE: 'trailers' } : {}) }
  const head = Object.entries(lines)
    .map((line) => `${line.join(': ')}\r\n`)
    .join('')
  return new Promise<Record<'location' | 'cache' | 'body', string | undefined> & { status: number }>(
    (resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname)
      let text = ''
      socket.setEncoding('utf8')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', reject)
      socket.on('end', () => {
        const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(text)?.[1]
        resolve({
          status: Number(text.slice(9, 12)),
          // Every click has its own id, so replace it.
          location: header('location')?.replace(/tp_cid=[\w.-]+/, 'tp_cid=…'),
          cache: header('cache-control'),
          // The page of a card names its link.
          body: text.slice(text.indexOf('\r\n\r\n')).replaceAll(/(?<=127\.0\.0\.1:\d+)\/\w+/g, '/…'),
        })
      })
      socket.write(`GET ${target} HTTP/1.1\r\n${head}\r\n`)
    },
  )
}

const VISITORS: [string, Record<string, string>][] = [
  [
    '',
    {
      'User-Agent': BROWSER_USER_AGENT,
      Referer: 'https://www.instagram.com/p/1?secret',
      'X-Forwarded-For': '8.8.8.8',
    },
  ],
  [
    '?qr=1&utm_source=poster&a=b',
    {
      'User-Agent': 'Mozilla/5.0 (Linux; Android 14) Chrome/120.0 Mobile',
      'X-Forwarded-For': '9.9.9.9, 127.0.0.1',
    },
  ],
  ['?utm_campaign=%C3%A9t%C3%A9', { 'User-Agent': BROWSER_USER_AGENT, 'Sec-Purpose': 'prefetch;prerender' }],
  ['', { 'User-Agent': 'curl/8.5.0' }],
  ['?a=b', { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }],
  ['', {}],
]

const DIMENSIONS = [
  'device',
  'browser',
  'os',
  'country',
  'referrer',
  'utmSource',
  'utmCampaign',
  'trigger',
  'class',
  'link',
]

onBothEngines(
  'The fast path and the server behind it',
  (server) => {
    // Two workspaces have the same links. Only the fast path answers for one, only the server for the other.
    let quick: TestWorkspace
    let full: TestWorkspace
    beforeAll(async () => {
      quick = await server().createWorkspace()
      full = await server().createWorkspace()
    })

    test.each(LINKS)('give the same answer: %s', async (title, fields) => {
      const slugs: string[] = []
      for (const ws of [quick, full]) {
        const { slug } = await ws.createLink({ title, ...fields })
        // The fast path answers only links that the cache holds.
        await server().click(slug)
        slugs.push(slug)
      }
      const [front, behind] = slugs as [string, string]
      for (const [i, [query, headers]] of VISITORS.entries()) {
        const as = (slug: string) => `/${i === 1 ? slug.toUpperCase() : slug}${query}`
        const answer = await ask(server().origin, as(front), headers, false)
        expect([query, answer]).toEqual([query, await ask(server().origin, as(behind), headers, true)])
      }
    })

    test('record the same hits', async () => {
      await server().waitUntilShipped()
      const counts = async (ws: TestWorkspace, name: string) => {
        const { json } = await ws.api(`/analytics/clicks?class=all&limit=100&groupBy=${name}`)
        const rows = json.data as { link?: { title: string }; clicks: number }[]
        // Compared by title, because ids, slugs and times differ.
        return rows.map((row) => JSON.stringify(row.link ? [row.link.title, row.clicks] : row)).sort()
      }
      for (const name of DIMENSIONS) {
        const rows = await counts(quick, name)
        expect([name, rows]).toEqual([name, await counts(full, name)])
        expect(rows.length).toBeGreaterThan(name === 'country' ? 0 : 1)
      }
      const { json } = await quick.api('/analytics/clicks?class=all')
      // Links that redirect: each visit by every visitor, and one more that fills the cache.
      const opening = LINKS.length - ['over and leads on', 'over', 'not open', 'archived', 'password'].length
      expect(json.data.clicks).toBe(opening * (1 + VISITORS.length))
    })

    test('apply every change of a link with the next request', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({})
      const quick = () => ask(server().origin, `/${slug}`, { 'User-Agent': BROWSER_USER_AGENT }, false)
      await quick()
      expect((await quick()).location).toBe('https://example.com/')
      await ws.patch(`/links/${id}`, { destinationUrl: at('new') })
      expect((await quick()).location).toBe(at('new'))
      await ws.patch(`/links/${id}`, { archived: true })
      expect((await quick()).status).toBe(404)
      await ws.delete(`/links/${id}`)
      expect((await quick()).status).toBe(404)
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
