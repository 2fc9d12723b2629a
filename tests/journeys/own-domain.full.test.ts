// The journey of a domain of one's own in a real browser: proved by DNS, a link on it, a click, a form that is sent through
// it, the lead in all places that name it, and at last the domain's end.

import { afterAll, expect, test } from 'bun:test'
import { onCustomerSite, type SiteVisitor, type SiteWorkspace } from '../support/browser/customer-site.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { until } from '../support/until.ts'

const DOMAIN = 'go.brand.test'
const SLUG = 'sale/🎉/spring-26'

const dns = await startDnsServer()
const receiver = startWebhookReceiver()
afterAll(() => Promise.all([dns.stop(), receiver.stop()]))

/** Adds a domain, sets the records that the answer names, and proves it. */
async function addDomain({ api }: Pick<SiteWorkspace, 'api'>, name: string) {
  const added = await api('/domains', { method: 'POST', body: { domain: name } })
  expect([added.status, added.json.data.verified]).toEqual([201, false])
  const { id, dns: records } = added.json.data
  const verify = async () => (await api(`/domains/${id}/verify`, { method: 'POST' })).json.data
  expect(await verify()).toMatchObject({ verified: false, problem: expect.stringContaining('no TXT record') })
  for (const { type, name, value } of records) dns.set(type, name, value)
  expect(await verify()).toMatchObject({ verified: true, dns: [{ type: 'TXT', ok: true }, {}] })
  return id as number
}

async function send({ page }: SiteVisitor, email: string) {
  await page.fill('[name=email]', email)
  await page.click('button')
  await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
}

onCustomerSite(
  'a domain of one’s own',
  (site) => {
    test('leads visitors from a link to a lead, and its links live on after it', async () => {
      const { server, addPage, createWorkspace, openVisitor } = site()
      const { port } = new URL(server.origin)
      const own = `http://${DOMAIN}:${port}`
      const ws = await createWorkspace()
      const count = async (path: string) => (await ws.api(`/analytics/${path}`)).json.data
      const domainId = await addDomain(ws, DOMAIN)

      const channel = { type: 'webhook', name: 'CRM', url: receiver.url }
      const { id: channelId } = (await ws.api('/channels', { method: 'POST', body: channel })).json.data
      const form = await ws.createForm({ channelIds: [channelId] })
      expect(form.endpoint).toBe(`${server.origin}/f/${form.key}`)
      // The page before has the snippet from the domain, and the page with the form has the default domain's.
      const contact = addPage(
        `${ws.tag}<form action="${own}/f/${form.key}" method="post"><input name="email"><button>Send</button></form>`,
      )
      const landing = addPage(`${ws.tag.replace(server.origin, own)}<a href="${contact}">Contact</a>`)
      const created = await ws.api('/links', {
        method: 'POST',
        body: {
          slug: SLUG,
          domain: DOMAIN,
          destinationUrl: `${landing}?utm_source=mail&utm_campaign=spring`,
          trackConversions: true,
        },
      })
      const link = created.json.data
      expect([created.status, link.slug, link.domain]).toEqual([201, SLUG, DOMAIN])
      expect(decodeURIComponent(link.shortUrl)).toBe(`${own}/${SLUG}`)

      const visit = await openVisitor()
      const eventId = visit.page.waitForResponse((response) => response.url() === `${own}/e`)
      await visit.page.goto(`${own}/${SLUG}`)
      expect((await eventId).status()).toBe(200)
      expect(visit.page.url()).toStartWith(landing)
      const facts = visit.page.waitForResponse(/\/forms\?keys=/)
      await Promise.all([visit.page.waitForURL(contact), visit.page.click('a'), facts])
      await send(visit, 'ada@example.com')

      const [submission] = await ws.listSubmissions(form.key)
      expect(submission).toMatchObject({
        linkId: link.id,
        attribution: 'measured',
        sessionLinked: true,
        utmCampaign: 'spring',
        landingUrl: landing,
        pageUrl: contact,
        referrer: null,
        link: { slug: SLUG, shortUrl: link.shortUrl },
      })
      expect((await ws.api(`/submissions/${submission.id}/attribution`)).json.data).toMatchObject([
        { type: 'click', linkId: link.id, shortUrl: link.shortUrl },
      ])
      const { body } = await until('the notification', () => receiver.requests[0])
      expect(JSON.parse(body).data.link).toMatchObject({ shortUrl: link.shortUrl })
      await until('the funnel', async () => {
        const [first] = await count('funnel?groupBy=link')
        return first?.domain === DOMAIN && first.clicks === 1 && first.visits === 1 && first.leads === 1
      })
      expect(await count('leads?groupBy=domain')).toMatchObject([{ domain: DOMAIN, leads: 1 }])
      expect(await count(`clicks?domain=${DOMAIN}`)).toMatchObject({ clicks: 1 })

      // The domain goes, and its links move. What was counted stays.
      expect((await ws.api(`/domains/${domainId}`, { method: 'DELETE' })).status).toBe(409)
      const gone = await ws.api(`/domains/${domainId}?moveTo=default`, { method: 'DELETE' })
      expect([gone.status, gone.json.data.domain]).toEqual([200, DOMAIN])
      expect((await visit.page.goto(`${own}/${SLUG}`))?.status()).toBe(404)
      expect(await visit.page.textContent('h1')).toBe('Unknown domain')
      const moved = (await ws.api(`/links/${link.id}`)).json.data
      expect(decodeURIComponent(moved.shortUrl)).toBe(`${server.origin}/${SLUG}`)
      await visit.page.goto(moved.shortUrl)
      expect(visit.page.url()).toStartWith(landing)
      expect(await count('leads?groupBy=domain')).toMatchObject([{ domain: moved.domain, leads: 1 }])
      await until('both clicks', async () => (await count(`clicks?domain=${moved.domain}`)).clicks === 2)
      await visit.close()
    }, 120_000)

    test('takes no form of another workspace, with the snippet or without', async () => {
      const { addPage, createWorkspace, openVisitor, server } = site()
      const own = `http://promo.brand.test:${new URL(server.origin).port}`
      const [ws, other] = [await createWorkspace(), await createWorkspace()]
      await addDomain(ws, 'promo.brand.test')
      const foreign = await other.createForm()
      const page = addPage(
        `${ws.tag.replace(server.origin, own)}<form action="${own}/f/${foreign.key}" method="post"><input name="email"><button>Send</button></form>`,
      )
      const visit = await openVisitor()
      await site().open(visit, page)
      await visit.page.fill('[name=email]', 'eve@example.com')
      const answer = visit.page.waitForResponse((response) => response.url().endsWith(`/f/${foreign.key}`))
      await visit.page.click('button')
      expect((await answer).status()).toBe(404)
      expect(await other.listStoredFields(foreign.key)).toEqual([])
      await visit.close()
    }, 120_000)
  },
  { environment: { DNS_SERVERS: dns.address, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } },
)
