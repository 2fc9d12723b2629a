import { expect, test } from 'bun:test'
import { newestSubmission } from '../../../tests/support/newest-submission.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/server/test-server.ts'

const MINUTE = 60_000
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

async function newForm(workspace: TestWorkspace): Promise<string> {
  const { json } = await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })
  return json.data.formKey
}

async function send(server: TestServer, formKey: string, visitor: Visitor = {}, referer?: string) {
  const { json } = await server.call(`/f/${formKey}`, {
    method: 'POST',
    body: { email: 'jo@example.com' },
    headers: { ...headersOf(visitor), ...(referer === undefined ? {} : { Referer: referer }) },
  })
  expect(json).toEqual({ ok: true })
}

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

    test('still shows the link after it is deleted', async () => {
      const workspace = await server().createWorkspace()
      const link = await workspace.createLink()
      const formKey = await newForm(workspace)
      await click(link.slug)
      await workspace.api(`/links/${link.id}`, { method: 'DELETE' })
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
        referrer: 'shop.example',
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
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1/32' } },
)
