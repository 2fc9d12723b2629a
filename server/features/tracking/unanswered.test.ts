// Page views that the snippet reports with the next page, because the visitor left before the server had answered: they
// become the same visit, and each counts once.

import { expect, test } from 'bun:test'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { newestSubmission } from '../../../tests/support/newest-submission.ts'
import {
  BROWSER_USER_AGENT,
  onSqlite,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'

const SHOP = 'https://shop.example'
const MINUTE = 60_000
let now = Date.parse('2026-05-10T12:00:00Z')

interface Site extends TestWorkspace {
  formKey: string
}

async function newSite(server: TestServer): Promise<Site> {
  const workspace = await server.createWorkspace()
  return { ...workspace, formKey: (await workspace.createForm()).formKey }
}

interface Page {
  u: string
  r?: string
  i?: unknown
}

let pages = 0
const toPage = (path: string, r = ''): Page => ({ u: `${SHOP}${path}`, r, i: `page${++pages}` })

const asVisitor = (address = nextSenderAddress()) => ({
  'User-Agent': BROWSER_USER_AGENT,
  'X-Forwarded-For': address,
})

const report = (server: TestServer, site: Site, page: Page, more: object = {}, headers = asVisitor()) =>
  server.post('/e', JSON.stringify({ w: site.publicId, ...page, ...more }), headers)

async function submit(server: TestServer, site: Site, eventId: string) {
  const body = { email: 'jo@example.com', n: String(++pages), _service_eid: eventId }
  const sent = await server.post(`/f/${site.formKey}`, body, asVisitor())
  expect(sent.json).toEqual({ ok: true })
  const submission = await newestSubmission(site, site.formKey)
  const touches = (await site.api(`/submissions/${submission.id}/attribution`)).json.data
  return { ...submission, touches }
}

async function countViews(server: TestServer, { id }: Site) {
  await server.waitUntilShipped()
  const count = async (outcome: 'landing' | 'view') => {
    const [answer] = await server.app.hitWorker.ask({
      workspaceId: id,
      start: 0,
      end: 2 ** 45,
      classes: ['human'],
      outcomes: [outcome],
      filters: [],
      groupBy: { by: 'total' },
    })
    return answer?.clicks
  }
  return { landings: await count('landing'), views: await count('view') }
}

const landingFromClick = async (server: TestServer, site: Site) => {
  const link = await site.createLink({
    trackConversions: true,
    destinationUrl: `${SHOP}/spring?utm_source=news&utm_campaign=spring`,
  })
  const location = new URL((await server.click(link.slug)).headers.get('location') as string)
  return { link, page: toPage(location.pathname + location.search, 'https://www.search.example/') }
}

onSqlite(
  'a page view without an answer',
  (server) => {
    test.each([
      ['did not reach the server', false],
      ['reached the server', true],
    ])('that %s gives the submission of the next page what brought the visitor', async (_, arrived) => {
      const site = await newSite(server())
      const { link, page } = await landingFromClick(server(), site)
      const landedAt = now
      if (arrived) await report(server(), site, page)
      now += MINUTE
      const next = toPage('/contact', page.u)
      const { json } = await report(server(), site, next, { p: [page] })
      const submission = await submit(server(), site, json.e)
      expect(submission).toMatchObject({
        linkId: link.id,
        attribution: 'measured',
        sessionLinked: true,
        landingUrl: `${SHOP}/spring`,
        pageUrl: `${SHOP}/contact`,
        referrer: 'search.example',
        utmSource: 'news',
        utmCampaign: 'spring',
      })
      const at = new Date(arrived ? landedAt : now).toISOString()
      expect(submission.touches).toMatchObject([{ type: 'click', linkId: link.id, linearCredit: 1, at }])
      expect(await countViews(server(), site)).toEqual({ landings: 1, views: 1 })
    })

    test('counts once, and keeps its visit, when the first request arrives after the second', async () => {
      const site = await newSite(server())
      const { page } = await landingFromClick(server(), site)
      const second = await report(server(), site, toPage('/contact'), { p: [page] })
      now += 1000
      const first = await report(server(), site, page)
      expect(await countViews(server(), site)).toEqual({ landings: 1, views: 1 })
      const visits = [await submit(server(), site, first.json.e), await submit(server(), site, second.json.e)]
      expect(visits[0].eventId).toBe(visits[1].eventId)
      expect(visits[0].eventId).toMatch(/^[0-9a-z]+\.[0-9a-f]{16}$/)
    })

    test('keeps first and last touch in order, after the pages that the server has answered', async () => {
      const site = await newSite(server())
      const first = await report(server(), site, toPage('/?utm_source=first'))
      const lost = [toPage('/?utm_source=second'), toPage('/plain', `${SHOP}/`)]
      const last = await report(server(), site, toPage('/contact'), { e: first.json.e, p: lost })
      const { touches, landingUrl, utmSource } = await submit(server(), site, last.json.e)
      expect([landingUrl, utmSource]).toEqual([`${SHOP}/`, 'second'])
      expect(touches).toMatchObject([
        { utmSource: 'first', isFirst: true },
        { utmSource: 'second', isLast: true },
      ])
      expect(await countViews(server(), site)).toEqual({ landings: 1, views: 3 })
    })

    test('is of an earlier visit where its first report is more than half an hour old', async () => {
      const site = await newSite(server())
      const lost = toPage('/?utm_source=old')
      await report(server(), site, lost)
      now += 29 * MINUTE
      const soon = await report(server(), site, toPage('/a'), { p: [lost] })
      expect((await submit(server(), site, soon.json.e)).utmSource).toBe('old')
      now += 2 * MINUTE
      const later = await report(server(), site, toPage('/b'), { e: soon.json.e, p: [lost] })
      // The server has forgotten the first report, and cannot know that this is the same page view.
      expect((await submit(server(), site, later.json.e)).landingUrl).toBe(`${SHOP}/`)
      expect(await countViews(server(), site)).toEqual({ landings: 1, views: 3 })
    })

    test('cannot name a link of another workspace, set a time, or be looked up by another workspace', async () => {
      const [site, other] = [await newSite(server()), await newSite(server())]
      const foreign = await landingFromClick(server(), other)
      await report(server(), other, foreign.page)
      now += 5 * MINUTE
      const forged = {
        ...foreign.page,
        at: 1,
        t: 1,
        startedAt: 1,
        linkId: foreign.link.id,
        workspaceId: other.id,
      }
      const { json } = await report(server(), site, toPage('/contact'), { p: [forged] })
      const submission = await submit(server(), site, json.e)
      expect(submission).toMatchObject({
        linkId: null,
        clickId: null,
        attribution: 'none',
        utmSource: 'news',
      })
      expect(submission.touches).toMatchObject([{ type: 'campaign', at: new Date(now).toISOString() }])
      expect(await countViews(server(), site)).toEqual({ landings: 1, views: 1 })
      expect((await other.api(`/links/${foreign.link.id}`)).json.data.leads).toBe(0)
    })

    test('is refused where its list is nonsense, and then nothing is recorded', async () => {
      const site = await newSite(server())
      const many = [1, 2, 3, 4].map((n) => toPage(`/${n}`))
      const cases: [object, string][] = [
        [{ p: 'x' }, 'p: must be a list of at most 3 pages'],
        [{ p: null }, 'p: must be a list of at most 3 pages'],
        [{ p: { length: 1 } }, 'p: must be a list of at most 3 pages'],
        [{ p: many }, 'p: must be a list of at most 3 pages'],
        [{ p: [null] }, 'p: must be an object'],
        [{ p: [[]] }, 'p: must be an object'],
        [{ p: [{}] }, "p: u: must be the page's address"],
        [{ p: [{ u: `${SHOP}/`, r: 1 }] }, "p: r: must be the referrer's address"],
        [{ p: [{ u: 'javascript:alert(1)' }] }, 'u: must be an http or https URL'],
        [{ p: [{ u: `${SHOP}/`, i: 'a b' }] }, 'p: i: must be 1 to 40 letters and digits'],
        [{ i: 7 }, 'i: must be 1 to 40 letters and digits'],
        [{ i: 'x'.repeat(41) }, 'i: must be 1 to 40 letters and digits'],
      ]
      for (const [more, error] of cases) {
        const { status, json } = await report(server(), site, toPage('/'), more)
        expect([more, status, json]).toEqual([more, 400, { error }])
      }
      const long = [toPage(`/${'x'.repeat(8192)}`)]
      expect((await report(server(), site, toPage('/'), { p: long })).status).toBe(413)
      expect(await countViews(server(), site)).toEqual({ landings: 0, views: 0 })
    })

    test('takes from the limit of 120 page views a minute', async () => {
      const site = await newSite(server())
      const crowded = asVisitor()
      const reports = Array.from({ length: 40 }, () => {
        const p = [toPage('/1'), toPage('/2'), toPage('/3')]
        return report(server(), site, toPage('/4'), { p }, crowded)
      })
      for (const { status } of await Promise.all(reports)) expect([200, 429]).toContain(status)
      const { landings = 0, views = 0 } = await countViews(server(), site)
      expect(landings + views).toBe(120)
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1' } },
)
