import { beforeAll, expect, test } from 'bun:test'
import { BROWSER_USER_AGENT, onSqlite, type TestWorkspace } from '../../../tests/support/world.ts'
import { useCheapHashes } from '../../lib/crypto/cheap-hashes.fixture.ts'
import type { Hit } from '../../storage/hits/hit.ts'
import { readBatchText, readRecordedHits, sendRawGet } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const FUTURE = '2100-01-01T00:00:00.000Z'
const OVER = 'https://example.com/over'
const VISITOR = '198.51.100.23'

useCheapHashes()

interface Visit {
  suffix?: string
  method?: string
  body?: string
  headers?: Record<string, string>
}

type Case = [
  what: string,
  link: Record<string, unknown>,
  visit: Visit,
  hit: { outcome: string; class?: string; trigger?: string },
]

const POST = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
const as = (userAgent: string) => ({ headers: { 'User-Agent': userAgent } })
const redirect = (more = {}) => ({ outcome: 'redirect', ...more })

const CASES: Case[] = [
  ['a redirect', {}, {}, redirect()],
  ['a redirect for good', { redirectStatus: 301 }, {}, redirect()],
  ['an archived link', { archived: true }, {}, { outcome: 'missing' }],
  ['a link before its time', { startsAt: FUTURE }, {}, { outcome: 'missing' }],
  ['an expired link', { expiresAt: PAST }, {}, { outcome: 'expired' }],
  ['an expiredUrl', { expiresAt: PAST, expiredUrl: OVER }, {}, { outcome: 'expired' }],
  ['a password page', { password: 'x' }, {}, { outcome: 'password' }],
  ['a wrong password', { password: 'x' }, { ...POST, body: 'password=y' }, { outcome: 'password' }],
  ['a right password', { password: 'x' }, { ...POST, body: 'password=x' }, redirect()],
  ['a preview', {}, { suffix: '+' }, { outcome: 'preview' }],
  ['a preview of a locked link', { password: 'x' }, { suffix: '+' }, { outcome: 'preview' }],
  ['a person', {}, {}, redirect({ class: 'human' })],
  ['a robot by its user agent', {}, as('facebookexternalhit/1.1'), redirect({ class: 'bot' })],
  ['a program', {}, as('curl/8.5.0'), redirect({ class: 'bot' })],
  ['a prefetch', {}, { headers: { 'Sec-Purpose': 'prefetch' } }, redirect({ class: 'prefetch' })],
  ['a prerender', {}, { headers: { 'Sec-Purpose': 'prefetch;prerender' } }, redirect({ class: 'prefetch' })],
  ['an older prefetch', {}, { headers: { Purpose: 'prefetch' } }, redirect({ class: 'prefetch' })],
  ['HEAD', {}, { method: 'HEAD' }, redirect({ class: 'head' })],
  ['HEAD by a robot', {}, { method: 'HEAD', ...as('Twitterbot/1.0') }, redirect({ class: 'head' })],
  ['a QR code', {}, { suffix: '?qr=1' }, redirect({ trigger: 'qr' })],
  ['a QR code among others', {}, { suffix: '?a=2&qr=1&b' }, redirect({ trigger: 'qr' })],
  ['another qr', {}, { suffix: '?qr=10&xqr=1' }, redirect({ trigger: 'link' })],
]

onSqlite(
  'The recording of visits',
  (server) => {
    // All visits come first, so that the hits are shipped once.
    let ws: TestWorkspace
    let hits: Hit[]
    const links = new Map<string, number>()
    beforeAll(async () => {
      ws = await server().createWorkspace()
      for (const [what, link, { suffix = '', headers, ...call }] of CASES) {
        const { id, slug } = await ws.createLink(link)
        links.set(what, id)
        await server().call(`/${slug}${suffix}`, {
          ...call,
          headers: { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': VISITOR, ...headers },
        })
      }
      hits = await readRecordedHits(server())
    }, 120_000)

    test.each(CASES)('has one hit for %s', async (what, _, __, hit) => {
      const id = links.get(what)
      const own = hits.filter((each) => each.linkId === id)
      expect(own).toHaveLength(1)
      expect(own[0]).toMatchObject({
        class: 'human',
        trigger: 'link',
        workspaceId: ws.id,
        ...hit,
      })
      expect(own[0]?.unknownSlug ?? null).toBeNull()
      // The link's counter has only redirects of people. Analytics separate the classes.
      const counted = hit.outcome === 'redirect' && (hit.class ?? 'human') === 'human' ? 1 : 0
      expect((await ws.api(`/links/${id}`)).json.data.clicks).toBe(counted)
      const clicks = async (query: string) =>
        (await ws.api(`/analytics/clicks?linkId=${id}${query}`)).json.data.clicks
      expect(await clicks('')).toBe(counted)
      const asked = hit.outcome === 'redirect' ? 1 : 0
      expect(await clicks(`&class=${own[0]?.class}`)).toBe(asked)
      expect(await clicks('&class=all')).toBe(asked)
      expect(await clicks(`&class=all&trigger=${own[0]?.trigger}`)).toBe(asked)
    })

    test('counts a visitor without a user agent as a bot', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({})
      expect((await sendRawGet(server(), `/${slug}`)).status).toBe(302)
      const own = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
      expect(own).toMatchObject([{ class: 'bot', outcome: 'redirect' }])
    })

    test('counts an unknown slug by its folded name, and texts that no link can have as one number', async () => {
      const domainRows = () => server().rows('misses')
      const paths = [
        'Spring-Sale',
        'spring-sale/',
        'Spr%C3%BCng',
        'odd%00slug',
        `${'x'.repeat(300)}`,
        'look+',
      ]
      for (const path of paths) expect((await server().click(path)).status).toBe(404)
      await server().call('/spring-sale', { method: 'HEAD', headers: { 'User-Agent': BROWSER_USER_AGENT } })
      await server().call('/spring-sale', { headers: { 'User-Agent': 'curl/8.5.0' } })
      await server().app.misses.flush()
      const rows = (await domainRows()).toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
      expect(rows).toMatchObject([
        { slug: '', hits: 2, visitors: 0, bots: 0 },
        { slug: 'look', hits: 1, visitors: 1, bots: 0 },
        { slug: 'spring-sale', hits: 2, visitors: 1, bots: 2 },
        { slug: 'sprüng', hits: 1, visitors: 1, bots: 0 },
      ])
      expect((await readRecordedHits(server())).filter(({ linkId }) => linkId === 0)).toEqual([])
    })

    test('records nothing for a refused method or a refused password try', async () => {
      const ws = await server().createWorkspace()
      const open = await ws.createLink({})
      const locked = await ws.createLink({ password: 'x' })
      await server().put(`/${open.slug}`)
      await server().call(`/${open.slug}`, { ...POST, body: 'password=x' })
      for (let n = 0; n < 7; n++) await server().call(`/${locked.slug}`, { ...POST, body: 'password=y' })
      const hits = await readRecordedHits(server())
      expect(hits.filter(({ linkId }) => linkId === open.id)).toHaveLength(0)
      expect(hits.filter(({ linkId }) => linkId === locked.id)).toHaveLength(5)
    })

    test('has the referrer and the campaign of a visit', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({
        destinationUrl: 'https://example.com/?utm_source=own&utm_medium=own',
      })
      await server().click(`${slug}?utm_source=asked`, { Referer: 'https://www.news.example/story?id=1#x' })
      const own = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
      expect(own).toMatchObject([
        {
          utmSource: 'asked',
          utmMedium: 'own',
          referrer: 'news.example',
          referrerUrl: 'https://www.news.example/story',
          device: 'Mobile',
          os: 'iOS',
        },
      ])
    })

    test('has no IP address', async () => {
      await readRecordedHits(server())
      expect(readBatchText(server())).not.toBe('')
      expect(readBatchText(server())).not.toContain(VISITOR)
      expect(readBatchText(server())).not.toContain('127.0.0.1')
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
