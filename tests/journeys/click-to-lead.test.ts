// The journey from a click to a lead in a real browser: a short link, a landing page, a form on another page, and then
// the analytics of the link.

import { expect, test } from 'bun:test'
import { type CustomerSite, onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const readEventId = ({ page }: SiteVisitor) =>
  page.evaluate<string | null>('Object.values(sessionStorage)[0] ?? null')

/** Creates a form on a contact page, a landing page that links to it, and a short link to the landing page. */
async function createCampaign({ createWorkspace, addPage, origin, server }: CustomerSite, name: string) {
  const ws = await createWorkspace()
  const form = await ws.createForm({ requiredFields: ['email'] })
  const contact = addPage(
    `${ws.tag}<form action="${form.endpoint}" method="post">
       <input name="name"><input name="email"><button>Send</button>
     </form>`,
    {},
    `/${name}/contact`,
  )
  const landing = addPage(`${ws.tag}<a href="${contact}">Contact</a>`, {}, `/${name}`)
  const { json } = await ws.api('/links', {
    method: 'POST',
    body: {
      destinationUrl: `${landing}?utm_source=mail&utm_medium=newsletter&utm_campaign=${name}`,
      trackConversions: true,
      tagNames: [name],
    },
  })
  const link = json.data
  return { ws, form, contact, landing, link, short: `${server.origin}/${link.slug}`, origin }
}

type Campaign = Awaited<ReturnType<typeof createCampaign>>

/** Opens the short link and goes on to the contact page. */
async function followLink({ page }: SiteVisitor, { short, contact }: Campaign) {
  await page.goto(short)
  await until('the event id of the landing page', () => readEventId({ page } as SiteVisitor))
  const facts = page.waitForResponse(/\/forms\?keys=/)
  const pageView = page.waitForResponse((response) => response.url().endsWith('/e'))
  await page.click('a')
  await Promise.all([page.waitForURL(contact), facts, pageView])
}

async function send({ page }: SiteVisitor, email: string) {
  await page.fill('[name=name]', 'Ada')
  await page.fill('[name=email]', email)
  await page.click('button')
  await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
}

onCustomerSite('from click to lead', (site) => {
  test('a submission has its link and campaign, is counted, and is exported', async () => {
    const campaign = await createCampaign(site(), 'spring')
    const { ws, form, link, landing, contact } = campaign
    const visit = await site().openVisitor()
    await followLink(visit, campaign)
    await send(visit, 'ada@example.com')

    const count = async (path: string) => (await ws.api(`/analytics/${path}`)).json.data
    await until('the lead of the link', async () => {
      const [first] = await count('leads?groupBy=link')
      return first?.link === link.id && first.leads === 1 && first.visitors === 1
    })
    await until('the funnel', async () => {
      const [first] = await count('funnel?groupBy=link')
      return first?.link === link.id && first.clicks === 1 && first.visits === 1 && first.leads === 1
    })
    expect(await count('leads?groupBy=utmCampaign')).toMatchObject([{ utmCampaign: 'spring', leads: 1 }])
    expect(await count('leads?groupBy=tag&model=first')).toMatchObject([{ name: 'spring', leads: 1 }])
    expect(await count('clicks')).toMatchObject({ clicks: 1 })
    await until('the counts of the link', async () => {
      const { clicks, leads } = (await ws.api(`/links/${link.id}`)).json.data
      return clicks === 1 && leads === 1
    })

    const [submission] = await ws.listSubmissions(form.key)
    expect(submission).toMatchObject({
      fields: { name: 'Ada', email: 'ada@example.com' },
      email: 'ada@example.com',
      linkId: link.id,
      clickId: expect.stringMatching(/\S/),
      sessionLinked: true,
      eventId: expect.stringMatching(/\S/),
      attribution: 'measured',
      landingUrl: landing,
      pageUrl: contact,
      utmSource: 'mail',
      utmMedium: 'newsletter',
      utmCampaign: 'spring',
    })
    expect((await ws.api(`/submissions/${submission.id}/attribution`)).json.data).toMatchObject([
      { type: 'click', linkId: link.id, slug: link.slug, isFirst: true, isLast: true, linearCredit: 1 },
    ])

    const { text } = await ws.api(`/forms/${form.key}/submissions/export`)
    const [names, ...lines] = text
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(','))
    const cells = Object.fromEntries((names as string[]).map((name, i) => [name, lines[0]?.[i]]))
    expect(lines).toHaveLength(1)
    expect(cells).toMatchObject({
      name: 'Ada',
      email: 'ada@example.com',
      linkId: String(link.id),
      utmCampaign: 'spring',
      attribution: 'measured',
    })

    // The browser stores one event id in sessionStorage, and nothing else.
    expect(await visit.context.cookies()).toEqual([])
    expect(await visit.page.evaluate('localStorage.length + document.cookie.length')).toBe(0)
    expect(await visit.page.evaluate('sessionStorage.length')).toBe(1)
    expect(visit.errors).toEqual([])
    await visit.close()
  }, 120_000)

  full(
    'a second link in the same visit becomes the last touch, and the first link stays the first touch',
    async () => {
      const [first, second] = [await createCampaign(site(), 'summer'), await createCampaign(site(), 'unused')]
      const { ws, form } = first
      const { json } = await ws.api('/links', {
        method: 'POST',
        body: {
          destinationUrl: `${first.contact}?utm_source=ad&utm_campaign=autumn`,
          trackConversions: true,
        },
      })
      const last = json.data
      const visit = await site().openVisitor()
      await followLink(visit, first)
      const facts = visit.page.waitForResponse(/\/forms\?keys=/)
      const pageView = visit.page.waitForResponse((response) => response.url().endsWith('/e'))
      await visit.page.goto(`${site().server.origin}/${last.slug}`)
      await Promise.all([facts, pageView])
      await send(visit, 'bo@example.com')
      const [submission] = await ws.listSubmissions(form.key)
      expect(submission).toMatchObject({ linkId: last.id, utmCampaign: 'autumn', landingUrl: first.landing })
      expect((await ws.api(`/submissions/${submission.id}/attribution`)).json.data).toMatchObject([
        { type: 'click', linkId: first.link.id, isFirst: true, isLast: false, linearCredit: 0.5 },
        { type: 'click', linkId: last.id, isFirst: false, isLast: true, linearCredit: 0.5 },
      ])
      for (const [model, credit] of Object.entries({
        first: { [first.link.id]: 1 },
        last: { [last.id]: 1 },
        linear: { [first.link.id]: 0.5, [last.id]: 0.5 },
      })) {
        const { data } = (await ws.api(`/analytics/leads?groupBy=link&model=${model}`)).json
        const leads = data.map(({ link, leads }: { link: number; leads: number }) => [link, leads])
        expect([model, Object.fromEntries(leads)]).toEqual([model, credit])
      }
      expect((await second.ws.api('/analytics/leads')).json.data.leads).toBe(0)
      await visit.close()
    },
    120_000,
  )

  full(
    'under Global Privacy Control a submission is stored without attribution',
    async () => {
      const campaign = await createCampaign(site(), 'winter')
      const { ws, form, link } = campaign
      const visit = await site().openVisitor()
      await visit.context.setExtraHTTPHeaders({ 'Sec-GPC': '1' })
      await visit.context.addInitScript(
        "Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })",
      )
      const requests: string[] = []
      visit.page.on('request', (request) => requests.push(new URL(request.url()).pathname))
      await visit.page.goto(campaign.short)
      await site().open(visit, campaign.contact)
      await send(visit, 'cy@example.com')
      expect(requests).not.toContain('/e')
      const [submission] = await ws.listSubmissions(form.key)
      expect(submission).toMatchObject({
        linkId: null,
        clickId: null,
        eventId: null,
        attribution: 'none',
        landingUrl: null,
      })
      expect(await visit.page.evaluate('sessionStorage.length')).toBe(0)
      await site().server.waitUntilShipped()
      const { data } = (await ws.api('/analytics/funnel')).json
      expect(data).toMatchObject({ visits: 0, leads: 1 })
      expect((await ws.api(`/links/${link.id}`)).json.data.leads).toBe(0)
      await visit.close()
    },
    120_000,
  )
})
