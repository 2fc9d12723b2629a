// The attribution of a form on pages with the snippet. These tests send the snippet's requests themselves;
// tests/browser runs the real snippet.

import { expect, test } from 'bun:test'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { newestSubmission } from '../../../tests/support/newest-submission.ts'
import { until } from '../../../tests/support/until.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SHOP = 'https://shop.example'
let now = Date.parse('2026-05-10T10:00:00Z')

interface Site extends TestWorkspace {
  formKey: string
}

async function newSite(server: TestServer): Promise<Site> {
  const workspace = await server.createWorkspace()
  return { ...workspace, formKey: (await workspace.createForm()).formKey }
}

/** A visitor with one address, one browser and one tab. */
function newVisitor(server: TestServer, { publicId, formKey }: Site) {
  const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
  let eventId: string | undefined
  return {
    async click(slug: string): Promise<string> {
      const answer = await server.click(slug, headers)
      return answer.headers.get('location') as string
    },
    async see(url: string, from = '') {
      now += MINUTE
      const body = JSON.stringify({ w: publicId, u: url, r: from, e: eventId })
      const { json } = await server.post('/e', body, headers)
      eventId = json.e
    },
    async send(fields: Record<string, unknown> = {}, more: Record<string, string> = {}) {
      const body = { email: 'jo@example.com', n: String(now), _service_eid: eventId, ...fields }
      const sent = await server.post(`/f/${formKey}`, body, { ...headers, ...more })
      expect([sent.status, sent.json]).toEqual([200, { ok: true }])
    },
    eventId: () => eventId,
  }
}

const newest = (site: Site) => newestSubmission(site, site.formKey)
const touchesOf = async ({ api }: Site, id: number) => (await api(`/submissions/${id}/attribution`)).json.data

onBothEngines(
  'a form with the snippet',
  (server) => {
    test('has the link, campaign, landing page and page of its visit, as measured', async () => {
      const site = await newSite(server())
      const link = await site.createLink({
        trackConversions: true,
        destinationUrl: `${SHOP}/spring?utm_source=news&utm_campaign=spring`,
      })
      const visitor = newVisitor(server(), site)
      const landing = await visitor.click(link.slug)
      await visitor.see(landing, 'https://www.search.example/')
      await visitor.see(`${SHOP}/contact?a=1`, landing)
      now += 2 * HOUR
      await visitor.send({}, { Referer: `${SHOP}/` })
      const submission = await newest(site)
      expect(submission).toMatchObject({
        linkId: link.id,
        clickId: new URL(landing).searchParams.get('tp_cid'),
        attribution: 'measured',
        sessionLinked: true,
        landingUrl: `${SHOP}/spring`,
        pageUrl: `${SHOP}/contact`,
        referrer: 'search.example',
        utmSource: 'news',
        utmMedium: null,
        utmCampaign: 'spring',
        // Control fields are not stored.
        fields: { email: 'jo@example.com' },
      })
      expect(Object.keys(submission.fields)).not.toContain('_service_eid')
      expect(submission.eventId).toMatch(/^[0-9a-z]+\.[0-9a-f]{16}$/)
      expect(await touchesOf(site, submission.id)).toMatchObject([
        {
          type: 'click',
          linkId: link.id,
          slug: link.slug,
          shortUrl: link.shortUrl,
          isFirst: true,
          isLast: true,
          linearCredit: 1,
          utmCampaign: 'spring',
          referrer: 'search.example',
        },
      ])
      expect((await site.api(`/links/${link.id}`)).json.data.leads).toBe(1)
    })

    test('has its first and last touch, with the credit of each', async () => {
      const site = await newSite(server())
      const visitor = newVisitor(server(), site)
      const began = now + MINUTE
      await visitor.see(`${SHOP}/?utm_source=first`)
      await visitor.see(`${SHOP}/a`, `${SHOP}/`)
      await visitor.see(`${SHOP}/b`, 'https://other.example/x')
      await visitor.see(`${SHOP}/c`, `${SHOP}/b`)
      await visitor.send()
      const submission = await newest(site)
      expect(submission).toMatchObject({
        attribution: 'none',
        sessionLinked: true,
        linkId: null,
        landingUrl: `${SHOP}/`,
        referrer: 'other.example',
        utmSource: null,
      })
      const touches = await touchesOf(site, submission.id)
      expect(touches).toMatchObject([
        { type: 'campaign', utmSource: 'first', isFirst: true, isLast: false, linearCredit: 0.5 },
        { type: 'referrer', referrer: 'other.example', isFirst: false, isLast: true, linearCredit: 0.5 },
      ])
      expect(touches[0]).toMatchObject({ at: new Date(began).toISOString(), landingUrl: `${SHOP}/` })
      expect(touches[0].why).toEndWith('First touch · 50 % of linear credit')
      expect(touches[1].why).toEndWith('Last touch · 50 % of linear credit')
    })

    test('has a direct touch where the visitor came directly', async () => {
      const site = await newSite(server())
      const visitor = newVisitor(server(), site)
      await visitor.see(`${SHOP}/`)
      await visitor.send({}, { Referer: `${SHOP}/` })
      const submission = await newest(site)
      // The form's own page is not the referrer.
      expect(submission).toMatchObject({ referrer: null, sessionLinked: true, attribution: 'none' })
      expect(await touchesOf(site, submission.id)).toMatchObject([{ type: 'direct', linearCredit: 1 }])
    })

    test('credits the lead to the link of the last touch only, and still names the first', async () => {
      const site = await newSite(server())
      const [first, last] = [
        await site.createLink({ trackConversions: true, destinationUrl: `${SHOP}/1` }),
        await site.createLink({ trackConversions: true, destinationUrl: `${SHOP}/2` }),
      ]
      const visitor = newVisitor(server(), site)
      await visitor.see(await visitor.click(first.slug))
      await visitor.see(await visitor.click(last.slug))
      await visitor.send()
      const submission = await newest(site)
      expect(submission).toMatchObject({ linkId: last.id, attribution: 'measured' })
      expect(await touchesOf(site, submission.id)).toMatchObject([{ linkId: first.id }, { linkId: last.id }])
      const leads = async (id: number) => (await site.api(`/links/${id}`)).json.data.leads
      expect([await leads(first.id), await leads(last.id)]).toEqual([0, 1])
    })

    test('counts no lead for a duplicate', async () => {
      const site = await newSite(server())
      const link = await site.createLink({ trackConversions: true })
      const visitor = newVisitor(server(), site)
      await visitor.see(await visitor.click(link.slug))
      await visitor.send()
      await visitor.send()
      expect((await site.api(`/links/${link.id}`)).json.data.leads).toBe(1)
      const { json } = await site.api(`/forms/${site.formKey}/submissions`)
      expect(json.data.map(({ linkId }: { linkId: number }) => linkId)).toEqual([link.id, link.id])
    })

    test.each<[string, (own: string, foreign: string) => unknown]>([
      ['forged', () => 'A'.repeat(400)],
      ['cut', (own) => own.slice(0, -4)],
      ['of another workspace', (_, foreign) => foreign],
      ['too long', (own) => own.repeat(20)],
      ['empty', () => ''],
      ['a number', () => 7],
    ])('is stored unlinked where its event id is %s', async (_, of) => {
      const [site, other] = [await newSite(server()), await newSite(server())]
      const [visitor, foreigner] = [newVisitor(server(), site), newVisitor(server(), other)]
      await visitor.see(`${SHOP}/?utm_source=n`)
      await foreigner.see(`${SHOP}/?utm_source=n`)
      await visitor.send({ _service_eid: of(visitor.eventId() as string, foreigner.eventId() as string) })
      expect(await newest(site)).toMatchObject({
        sessionLinked: false,
        eventId: null,
        landingUrl: null,
        utmSource: null,
        attribution: 'none',
      })
    })

    test('has the pages that the server has not answered yet, after those of its event id', async () => {
      const site = await newSite(server())
      const visitor = newVisitor(server(), site)
      const report = (body: object) => JSON.stringify({ w: site.publicId, ...body })
      const p = [{ u: `${SHOP}/spring?utm_source=news`, r: 'https://search.example/' }]
      await visitor.send({ _service_view: report({ u: `${SHOP}/contact`, r: `${SHOP}/spring`, p }) })
      expect(await newest(site)).toMatchObject({
        sessionLinked: true,
        landingUrl: `${SHOP}/spring`,
        pageUrl: `${SHOP}/contact`,
        utmSource: 'news',
        referrer: 'search.example',
        fields: { email: 'jo@example.com' },
      })
      await visitor.see(`${SHOP}/?utm_source=first`)
      await visitor.send({ _service_view: report({ u: `${SHOP}/two?utm_source=last`, e: 'forged' }) })
      expect(await newest(site)).toMatchObject({
        landingUrl: `${SHOP}/`,
        pageUrl: `${SHOP}/two`,
        utmSource: 'last',
      })
    })

    test.each<[string, unknown]>([
      ['no JSON', '{'],
      ['a number', 7],
      ['no page', '{"w":"x"}'],
      ['no address', '{"w":"x","u":"javascript:1"}'],
      ['too many pages', JSON.stringify({ w: 'x', u: SHOP, p: [1, 2, 3, 4].map(() => ({ u: SHOP })) })],
      ['too long', JSON.stringify({ w: 'x', u: `${SHOP}/?utm_source=${'n'.repeat(9000)}` })],
    ])('is stored unlinked where its page view is %s', async (_, report) => {
      const site = await newSite(server())
      await newVisitor(server(), site).send({ _service_view: report })
      expect(await newest(site)).toMatchObject({ sessionLinked: false, landingUrl: null, utmSource: null })
    })

    test('is linked with a visit for a day after its last page, and not later', async () => {
      const site = await newSite(server())
      const visitor = newVisitor(server(), site)
      await visitor.see(`${SHOP}/?utm_source=n`)
      const before = now
      for (const [later, linked] of [
        [24 * HOUR - 1, true],
        [24 * HOUR, false],
      ] as const) {
        now = before + later
        await visitor.send()
        expect([later, (await newest(site)).sessionLinked]).toEqual([later, linked])
      }
      now = before
    })

    test('ignores a click of another workspace', async () => {
      const [site, other] = [await newSite(server()), await newSite(server())]
      const link = await other.createLink({ trackConversions: true })
      const visitor = newVisitor(server(), site)
      await visitor.see(await visitor.click(link.slug))
      await visitor.send({}, { Referer: await visitor.click(link.slug) })
      expect(await newest(site)).toMatchObject({ linkId: null, clickId: null, sessionLinked: true })
      expect((await other.api(`/links/${link.id}`)).json.data.leads).toBe(0)
    })

    test('finds the click in the address of its page, without the snippet too', async () => {
      const site = await newSite(server())
      const link = await site.createLink({
        trackConversions: true,
        destinationUrl: `${SHOP}/form?utm_source=n`,
      })
      const visitor = newVisitor(server(), site)
      const page = await visitor.click(link.slug)
      await visitor.send({}, { Referer: page, 'X-Forwarded-For': nextSenderAddress() })
      const submission = await newest(site)
      expect(submission).toMatchObject({ linkId: link.id, attribution: 'measured', sessionLinked: false })
      expect((await touchesOf(site, submission.id))[0]).toMatchObject({ type: 'click', utmSource: 'n' })
    })

    test('gets an inferred click where the link adds no id, merged into the touch that it led to', async () => {
      const site = await newSite(server())
      const link = await site.createLink({ destinationUrl: `${SHOP}/?utm_source=n` })
      const visitor = newVisitor(server(), site)
      const page = await visitor.click(link.slug)
      expect(page).not.toContain('tp_cid')
      now -= 30_000 // it is seen half a minute later
      await visitor.see(page)
      await visitor.see(`${SHOP}/`, 'https://other.example/')
      await visitor.send()
      const submission = await newest(site)
      expect(submission).toMatchObject({ linkId: link.id, attribution: 'inferred', sessionLinked: true })
      expect(await touchesOf(site, submission.id)).toMatchObject([
        { type: 'click', linkId: link.id, utmSource: 'n', isFirst: true },
        { type: 'referrer', linkId: null, referrer: 'other.example', isLast: true },
      ])
      // Another touch was the last one.
      expect((await site.api(`/links/${link.id}`)).json.data.leads).toBe(0)
    })

    test('has the campaign of an inferred click where its pages name none', async () => {
      const site = await newSite(server())
      const link = await site.createLink({ destinationUrl: `${SHOP}/` })
      const visitor = newVisitor(server(), site)
      const page = await visitor.click(`${link.slug}?utm_source=poster&utm_medium=qr`)
      await visitor.see(page)
      await visitor.see(`${SHOP}/contact`, page)
      await visitor.send({}, { Referer: `${SHOP}/` })
      const submission = await newest(site)
      const campaign = { utmSource: 'poster', utmMedium: 'qr', utmCampaign: null }
      expect(submission).toMatchObject({
        linkId: link.id,
        attribution: 'inferred',
        sessionLinked: true,
        landingUrl: `${SHOP}/`,
        ...campaign,
      })
      expect(await touchesOf(site, submission.id)).toMatchObject([
        { type: 'click', linkId: link.id, landingUrl: `${SHOP}/`, ...campaign },
      ])
      // Another site was the last touch, and the submission has its source.
      await visitor.see(`${SHOP}/`, 'https://other.example/')
      await visitor.send()
      const later = await newest(site)
      expect(later).toMatchObject({ linkId: link.id, referrer: 'other.example', utmSource: null })
      expect(await touchesOf(site, later.id)).toMatchObject([campaign, { type: 'referrer', utmSource: null }])
    })

    test('has no attribution under Global Privacy Control, neither measured nor inferred', async () => {
      const site = await newSite(server())
      const link = await site.createLink({ trackConversions: true, destinationUrl: `${SHOP}/form` })
      const visitor = newVisitor(server(), site)
      const page = await visitor.click(link.slug)
      await visitor.see(page)
      await visitor.send({}, { 'Sec-GPC': '1', Referer: page })
      expect(await newest(site)).toMatchObject({
        linkId: null,
        clickId: null,
        eventId: null,
        sessionLinked: false,
        attribution: 'none',
      })
    })

    test('is deleted together with its touches', async () => {
      const site = await newSite(server())
      const visitor = newVisitor(server(), site)
      await visitor.see(`${SHOP}/?utm_source=n`)
      await visitor.send()
      const { id } = await newest(site)
      const touches = () => server().rows('touches', { workspace_id: site.id })
      expect(await touches()).toHaveLength(1)
      await site.delete(`/submissions/${id}`)
      expect(await touches()).toEqual([])
    })

    test('closes a link for inferred leads as well', async () => {
      const site = await newSite(server())
      const link = await site.createLink({ leadLimit: 3, destinationUrl: `${SHOP}/` })
      const visitors = Array.from({ length: 8 }, () => newVisitor(server(), site))
      for (const visitor of visitors) {
        await visitor.click(link.slug)
        await visitor.send({ _service_eid: '' })
      }
      const full = await until('the link is full', async () => {
        const { data } = (await site.api(`/links/${link.id}`)).json
        return data.leads >= 3 && data
      })
      expect(full.leads).toBe(3)
      // The rows can be read a moment before the cache of links is told.
      await until('the link is closed', async () => (await server().click(link.slug)).status === 410)
      await until('all are inferred', async () => {
        const { json } = await site.api(`/forms/${site.formKey}/submissions?attribution=inferred`)
        return json.total === 8
      })
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1' } },
)

// The commits of the submissions wait for each other at the row of the link.
onBothEngines.quick(
  'a form with the snippet, at the same moment as others,',
  (server) => {
    test('closes a link at its leadLimit: of twenty parallel submissions ten count, and all are stored', async () => {
      const site = await newSite(server())
      const link = await site.createLink({
        trackConversions: true,
        leadLimit: 10,
        expiredUrl: `${SHOP}/full`,
      })
      const visitors = Array.from({ length: 20 }, () => newVisitor(server(), site))
      for (const visitor of visitors) await visitor.see(await visitor.click(link.slug))
      await Promise.all(visitors.map((visitor) => visitor.send()))
      expect((await site.api(`/links/${link.id}`)).json.data.leads).toBe(10)
      const { json } = await site.api(`/forms/${site.formKey}/submissions?limit=100`)
      expect(json.total).toBe(20)
      expect(new Set(json.data.map(({ linkId }: { linkId: number }) => linkId))).toEqual(new Set([link.id]))
      // With the next request, because the commit invalidates the cached link.
      expect((await server().click(link.slug)).headers.get('location')).toBe(`${SHOP}/full`)
      expect((await site.api(`/links/${link.id}/resolve`)).json.data.rule).toBe('expiredUrl')
      const raised = await site.patch(`/links/${link.id}`, { leadLimit: 11 })
      expect(raised.status).toBe(200)
      expect((await server().click(link.slug)).headers.get('location')).toContain('tp_cid=')
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1' } },
)
