import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../tests/support/fake-servers/webhook-receiver.ts'
import { newestSubmission } from '../../../tests/support/newest-submission.ts'
import { until } from '../../../tests/support/until.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'

const MINUTE = 60_000
const SHOP = 'https://shop.example'
// At noon, so that no shift of the clock passes midnight, when visitor ids change.
let now = Date.parse('2026-05-10T12:00:00Z')

const IN_GERMANY = '84.128.0.1'
const IN_FRANCE = '90.0.0.1'
const ANDROID =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36'

interface Visitor {
  address?: string
  userAgent?: string
}
const headersOf = ({ address = IN_GERMANY, userAgent = BROWSER_USER_AGENT }: Visitor) => ({
  'X-Forwarded-For': address,
  'User-Agent': userAgent,
})

async function newForm(workspace: TestWorkspace, settings: object = {}): Promise<string> {
  const body = { name: 'Contact', ...settings }
  const { json } = await workspace.post('/forms', body)
  return json.data.formKey
}

async function send(server: TestServer, formKey: string, visitor: Visitor = {}, referer?: string) {
  const { json } = await server.post(
    `/f/${formKey}`,
    { email: 'jo@example.com' },
    { ...headersOf(visitor), ...(referer === undefined ? {} : { Referer: referer }) },
  )
  expect(json).toEqual({ ok: true })
}

let hooks: WebhookReceiver
beforeAll(() => {
  hooks = startWebhookReceiver()
})
afterAll(() => hooks?.stop())

onBothEngines(
  'a form without the snippet',
  (server) => {
    const click = (slug: string, visitor: Visitor = {}) => server().click(slug, headersOf(visitor))

    test('shows the link that brought its sender, with the click id of the destination', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink({ trackConversions: true })
      const formKey = await newForm(workspace)
      const { headers } = await click(link.slug)
      await send(server(), formKey)
      const submission = await newestSubmission(workspace, formKey)
      expect(submission).toMatchObject({ linkId: link.id, attribution: 'inferred', sessionLinked: false })
      const given = new URL(headers.get('location') ?? '').searchParams.get('tp_cid')
      expect(given).not.toBeNull()
      expect(submission.clickId).toBe(given)
    })

    test('has the campaign and the referrer of the click, everywhere that analytics of clicks have them', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink({
        destinationUrl: `${SHOP}/?utm_source=news&utm_campaign=spring`,
      })
      const channel = { type: 'webhook', name: 'Hook', url: hooks.url }
      const { id } = (await workspace.post('/channels', channel)).json.data
      const formKey = await newForm(workspace, { channelIds: [id] })
      // The short URL's own parameter wins, in the analytics of clicks too.
      await server().click(`${link.slug}?utm_source=mail`, {
        ...headersOf({}),
        Referer: 'https://www.search.example/',
      })
      await send(server(), formKey, {}, `${SHOP}/`)
      const submission = await newestSubmission(workspace, formKey)
      const source = { referrer: 'search.example', utmSource: 'mail', utmMedium: null, utmCampaign: 'spring' }
      expect(submission).toMatchObject({
        linkId: link.id,
        attribution: 'inferred',
        sessionLinked: false,
        ...source,
      })
      const touches = (await workspace.api(`/submissions/${submission.id}/attribution`)).json.data
      expect(touches).toMatchObject([{ type: 'click', linkId: link.id, linearCredit: 1, ...source }])
      const csv = await workspace.api(`/forms/${formKey}/submissions/export?format=csv`)
      const [head = [], row = []] = csv.text
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','))
      expect([row[head.indexOf('utmSource')], row[head.indexOf('utmCampaign')]]).toEqual(['mail', 'spring'])
      const delivered = await until('the webhook', () =>
        hooks.requests.map(({ body }) => JSON.parse(body).data).find((data) => data.formKey === formKey),
      )
      // A notification waits two seconds for the decision, and goes without it.
      const decided = { linkId: link.id, attribution: 'inferred', ...source }
      expect(delivered).toMatchObject(delivered.attribution === 'pending' ? { linkId: null } : decided)
      const filtered = await workspace.api(`/forms/${formKey}/submissions?utmSource=mail&utmCampaign=spring`)
      expect(filtered.json.total).toBe(1)
      for (const groupBy of ['utmSource', 'utmCampaign', 'referrer']) {
        const range = 'start=2026-05-10&end=2026-05-11'
        const groups = async (what: string) => {
          const { json } = await workspace.api(`/analytics/${what}?${range}&groupBy=${groupBy}`)
          return json.data.map((group: Record<string, unknown>) => group[groupBy])
        }
        await server().waitUntilShipped()
        expect([groupBy, await groups('leads')]).toEqual([groupBy, await groups('clicks')])
      }
    })

    test('keeps the campaign of its own page, and its submission has no second source', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink({ destinationUrl: `${SHOP}/?utm_source=news&utm_term=t` })
      const formKey = await newForm(workspace)
      await click(link.slug)
      await send(server(), formKey, {}, `${SHOP}/form?utm_source=banner`)
      const submission = await newestSubmission(workspace, formKey)
      expect(submission).toMatchObject({
        linkId: link.id,
        utmSource: 'banner',
        utmTerm: null,
        attribution: 'inferred',
      })
      const touches = (await workspace.api(`/submissions/${submission.id}/attribution`)).json.data
      expect(touches).toMatchObject([{ type: 'click', utmSource: 'banner', utmTerm: null }])
    })

    test('has no referrer that is its own site, or this server', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink({ destinationUrl: SHOP })
      const formKey = await newForm(workspace)
      for (const [from, page] of [
        ['https://www.shop.example/news', `${SHOP}/`],
        [`${server().origin}/${link.slug}+`, `${SHOP}/`],
        [SHOP, 'https://www.shop.example/contact'],
      ] as const) {
        await server().click(link.slug, { ...headersOf({}), Referer: from })
        await send(server(), formKey, {}, page)
        const submission = await newestSubmission(workspace, formKey)
        expect(submission).toMatchObject({ linkId: link.id, referrer: null, pageUrl: page })
        const touches = (await workspace.api(`/submissions/${submission.id}/attribution`)).json.data
        expect(touches).toMatchObject([{ type: 'click', referrer: null }])
        now += MINUTE
      }
      const range = 'start=2026-05-10&end=2026-05-11&groupBy=referrer'
      const leads = (await workspace.api(`/analytics/leads?${range}`)).json.data
      expect(leads).toMatchObject([{ referrer: '(direct)', leads: 3 }])
      // A click on the shop's own pages comes from the shop; one on this server's pages comes from nowhere.
      await server().waitUntilShipped()
      const clicks = (await workspace.api(`/analytics/clicks?${range}`)).json.data
      expect(clicks).toMatchObject([
        { referrer: 'shop.example', clicks: 2 },
        { referrer: '(direct)', clicks: 1 },
      ])
    })

    test('still shows the link after it is deleted', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink()
      const formKey = await newForm(workspace)
      await click(link.slug)
      await workspace.delete(`/links/${link.id}`)
      await send(server(), formKey)
      expect(await newestSubmission(workspace, formKey)).toMatchObject({
        linkId: link.id,
        attribution: 'inferred',
      })
    })

    test.each<[string, { clicked?: Visitor; waited?: number; elsewhere?: boolean; head?: boolean }]>([
      ['by another device', { clicked: { userAgent: ANDROID } }],
      ['from another address', { clicked: { address: IN_FRANCE } }],
      ['by a robot', { clicked: { userAgent: 'curl/8.5.0' } }],
      ['thirty-one minutes ago', { waited: 31 * MINUTE }],
      ['on a link of another workspace', { elsewhere: true }],
      ['that only looked (HEAD)', { head: true }],
    ])('does not mistake it for a click %s', async (_, { clicked = {}, waited = 0, elsewhere, head }) => {
      const workspace = await server().createWorkspace()
      const link = await (elsewhere ? await server().createWorkspace() : workspace).createLink()
      const formKey = await newForm(workspace)
      if (head) await server().call(`/${link.slug}`, { method: 'HEAD', headers: headersOf(clicked) })
      else await click(link.slug, clicked)
      now += waited
      // The robot sends the form too. Even so, its click is not a person's.
      await send(server(), formKey, clicked.userAgent?.startsWith('curl') ? clicked : {})
      expect(await newestSubmission(workspace, formKey)).toMatchObject({
        linkId: null,
        clickId: null,
        attribution: 'none',
      })
    })

    test('has device, place, page and campaign', async () => {
      const workspace = await server().createWorkspace()
      const formKey = await newForm(workspace)
      const page =
        'https://www.shop.example/contact?utm_source=news&utm_campaign=spring+sale&token=secret#form'
      await send(server(), formKey, { address: IN_FRANCE, userAgent: ANDROID }, page)
      expect(await newestSubmission(workspace, formKey)).toMatchObject({
        // The site of the form is no source of its own.
        referrer: null,
        pageUrl: 'https://www.shop.example/contact',
        landingUrl: null,
        utmSource: 'news',
        utmMedium: null,
        utmCampaign: 'spring sale',
        device: 'Mobile',
        browser: 'Chrome',
        os: 'Android',
        country: 'FR',
        eventId: null,
      })
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1/32', WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' } },
)
