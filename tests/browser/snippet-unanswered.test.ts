// The snippet when the visitor leaves a page before the server has answered: the tab keeps the page view until the next
// page has reported it.

import { expect, test } from 'bun:test'
import {
  type CustomerSite,
  onCustomerSite,
  type SiteVisitor,
  type SiteWorkspace,
} from '../support/browser/customer-site.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'

interface Report {
  u: string
  e?: string
  p?: { u: string; t?: number }[]
}

/** The fate of a report: it does not arrive, its answer does not, or all is well. */
type Fate = 'lost' | 'unanswered' | 'answered'

/** Gives each report its fate, in order; the later ones are answered. */
async function intercept({ server }: CustomerSite, { context }: SiteVisitor, fates: Fate[]) {
  const reports: Report[] = []
  const held: (() => Promise<void>)[] = []
  let answered = 0
  await context.route(`${server.origin}/e`, async (route) => {
    const fate = fates[reports.length] ?? 'answered'
    const response = fate === 'lost' ? undefined : await route.fetch()
    reports.push(route.request().postDataJSON())
    if (response && fate === 'answered') {
      await route.fulfill({ response })
      answered++
    } else if (response) held.push(() => route.fulfill({ response }))
  })
  return {
    reports,
    /** Lets the answers that were held go to the pages that wait for them. */
    release: () => Promise.all(held.splice(0).map((fulfil) => fulfil())),
    waitUntilReported: (count: number) => until(`report ${count}`, () => reports.length >= count),
    waitUntilAnswered: (count: number) => until(`answer ${count}`, () => answered >= count),
  }
}

const readTab = ({ page }: SiteVisitor) =>
  page.evaluate<Record<string, string>>('Object.fromEntries(Object.entries(sessionStorage))')

/** Waits until the tab has an event id and no page view without an answer. */
const untilTold = (visit: SiteVisitor, { publicId }: SiteWorkspace) =>
  until('all is told', async () => {
    const tab = await readTab(visit)
    return Object.keys(tab).join() === `towpath:${publicId}` ? tab[`towpath:${publicId}`] : undefined
  })

async function sendForm({ page }: SiteVisitor) {
  await page.click('form button')
  await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
}

async function countViews({ server }: CustomerSite, { id }: SiteWorkspace) {
  await server.waitUntilShipped()
  const answers = await Promise.all(
    (['landing', 'view'] as const).map((outcome) =>
      server.app.hitWorker.ask({
        workspaceId: id,
        start: 0,
        end: 2 ** 45,
        classes: ['human'],
        outcomes: [outcome],
        filters: [],
        groupBy: { by: 'total' },
      }),
    ),
  )
  return answers.map(([answer]) => answer?.clicks)
}

const formOf = ({ endpoint }: { endpoint: string }) =>
  `<form action="${endpoint}" method="post"><input name="a" value="1"><button>Send</button></form>`

const BOTH_FATES: [string, Fate][] = [
  ['whose answer is lost', 'unanswered'],
  ['whose report is lost', 'lost'],
]
/** To the page they are the same: no answer comes. */
const FATES = atScale<[string, Fate][]>({ quick: BOTH_FATES.slice(0, 1), full: BOTH_FATES, soak: BOTH_FATES })

onCustomerSite('a visitor who leaves the first page before its answer', (site) => {
  test.each(FATES)('%s still has landing page, campaign and link on page two', async (_, fate) => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const contact = addPage(`${ws.tag}${formOf(form)}`)
    const landing = addPage(`${ws.tag}<a href="${contact}">Contact</a>`)
    const body = { destinationUrl: `${landing}?utm_source=news`, trackConversions: true }
    const link = (await ws.api('/links', { method: 'POST', body })).json.data
    const visit = await openVisitor()
    const { reports, waitUntilReported } = await intercept(site(), visit, [fate])
    await visit.page.goto(`${server.origin}/${link.slug}`)
    await waitUntilReported(1)
    await visit.page.click('a')
    await untilTold(visit, ws)
    expect(reports[1]?.p?.map(({ u }) => u)).toEqual([reports[0]?.u as string])
    expect(reports[1]?.p?.[0]).not.toHaveProperty('t')
    await sendForm(visit)
    expect(await ws.listSubmissions(form.key)).toMatchObject([
      {
        linkId: link.id,
        attribution: 'measured',
        sessionLinked: true,
        landingUrl: landing,
        pageUrl: contact,
        utmSource: 'news',
      },
    ])
    expect(await countViews(site(), ws)).toEqual([1, 1])
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full.each<[string, Fate]>([
    ['lost', 'lost'],
    ['unanswered', 'unanswered'],
  ])('and sends a form on page two while both reports are %s loses nothing', async (_, fate) => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const contact = addPage(`${ws.tag}${formOf(form)}`)
    const landing = addPage(`${ws.tag}<a href="${contact}">Contact</a>`)
    const body = { destinationUrl: `${landing}?utm_source=news`, trackConversions: true }
    const link = (await ws.api('/links', { method: 'POST', body })).json.data
    const visit = await openVisitor()
    const { waitUntilReported } = await intercept(site(), visit, [fate, fate])
    await visit.page.goto(`${server.origin}/${link.slug}`)
    await waitUntilReported(1)
    const described = visit.page.waitForResponse(/\/forms\?keys=/)
    await visit.page.click('a')
    await (await described).finished()
    await waitUntilReported(2)
    await sendForm(visit)
    expect(await ws.listSubmissions(form.key)).toMatchObject([
      {
        linkId: link.id,
        attribution: 'measured',
        sessionLinked: true,
        landingUrl: landing,
        pageUrl: contact,
        utmSource: 'news',
        fields: { a: '1' },
      },
    ])
    // The next page still reports both.
    expect(Object.keys(await readTab(visit))).toEqual([`towpath:${ws.publicId}:pages`])
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('and has the browser send the form of page two loses nothing either', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks` })
    const contact = addPage(`${ws.tag}${formOf(form)}`)
    const landing = addPage(`${ws.tag}<a href="${contact}">Contact</a>`)
    const visit = await openVisitor()
    const { waitUntilReported } = await intercept(site(), visit, ['lost', 'lost'])
    // The snippet does not get to know the form.
    await visit.context.route(/\/forms\?keys=/, (route) => route.abort())
    await visit.page.goto(`${landing}?utm_source=news`)
    await waitUntilReported(1)
    await visit.page.click('a')
    await waitUntilReported(2)
    await visit.page.click('form button')
    await visit.page.waitForURL(`${origin}/thanks`)
    const sent = { sessionLinked: true, landingUrl: landing, pageUrl: contact, utmSource: 'news' }
    expect(await ws.listSubmissions(form.key)).toMatchObject([sent])
    await visit.close()
  })

  full('and comes back to it from the back/forward cache keeps the newest event id', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const second = addPage(ws.tag)
    const first = addPage(`${ws.tag}<a href="${second}">On</a>`)
    const visit = await openVisitor()
    const { reports, release, waitUntilReported } = await intercept(site(), visit, ['unanswered'])
    await visit.page.goto(`${first}?utm_source=news`)
    await waitUntilReported(1)
    await visit.page.evaluate('window.same = true')
    await visit.page.click('a')
    const secondId = await untilTold(visit, ws)
    await visit.page.evaluate('history.back()')
    await waitUntilReported(3)
    expect(await visit.page.evaluate('window.same')).toBe(true)
    await release()
    const id = await until('a newer event id', async () => {
      const told = await untilTold(visit, ws)
      return told === secondId ? undefined : told
    })
    expect(reports.map(({ e, p }) => [e, p?.length])).toEqual([
      [undefined, undefined],
      [undefined, 1],
      [secondId, undefined],
    ])
    await visit.page.goto(second)
    await waitUntilReported(4)
    expect(reports[3]?.e).toBe(id)
    await untilTold(visit, ws)
    // The visit has all four, and each counts once.
    expect(await countViews(site(), ws)).toEqual([1, 3])
    await visit.close()
  })

  full(
    'after it was prerendered reports it once it was seen, and nothing of a page that was never seen',
    async () => {
      const { createWorkspace, addPage, openVisitor } = site()
      const ws = await createWorkspace()
      const visit = await openVisitor()
      const { reports, waitUntilReported } = await intercept(site(), visit, ['lost'])
      await visit.page.addInitScript(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => window.seen ? 'visible' : 'hidden' })`)
      const unseen = addPage(ws.tag)
      const [first, second] = [addPage(ws.tag), addPage(ws.tag)]
      const see = `window.seen = true
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`
      await visit.page.goto(unseen)
      expect(await readTab(visit)).toEqual({})
      await visit.page.goto(first)
      await visit.page.evaluate(see)
      await waitUntilReported(1)
      await visit.page.goto(second)
      await visit.page.evaluate(see)
      await untilTold(visit, ws)
      expect(reports.map(({ u, p }) => [u, p?.map((page) => page.u)])).toEqual([
        [first, undefined],
        [second, [first]],
      ])
      await visit.close()
    },
  )

  full('keeps the first of many pages, within the 8 KB of the server, for half an hour', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const pages = Array.from({ length: 6 }, () => addPage(ws.tag))
    const visit = await openVisitor()
    const fates = pages.map((): Fate => 'lost')
    const { reports, waitUntilReported } = await intercept(site(), visit, [...fates, ...fates])
    const open = async (url: string) => {
      const count = reports.length + 1
      await visit.page.goto(url)
      await waitUntilReported(count)
    }
    for (const page of pages) await open(page)
    expect(reports.map(({ p }) => p?.map(({ u }) => pages.indexOf(u)))).toEqual([
      undefined,
      [0],
      [0, 1],
      [0, 1, 2],
      [0, 2, 3],
      [0, 3, 4],
    ])
    const long = `${pages[1]}?${'x'.repeat(2_900)}`
    for (let times = 0; times < 3; times++) await open(long)
    expect(reports.at(-1)?.p?.map(({ u }) => u)).toEqual([pages[0] as string, long])
    for (const report of reports) expect(JSON.stringify(report).length).toBeLessThan(8_192)
    // Half an hour later the visit would be over anyway.
    await visit.page.evaluate(`
      const name = 'towpath:${ws.publicId}:pages'
      const views = JSON.parse(sessionStorage.getItem(name))
      sessionStorage.setItem(name, JSON.stringify(views.map((view) => ({ ...view, t: view.t - 30 * 60 * 1000 }))))`)
    await open(pages[2] as string)
    expect(reports.at(-1)).not.toHaveProperty('p')
    await visit.close()
  })

  full('has nothing kept under Global Privacy Control, whoever says it', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const page = addPage(ws.tag)
    const visit = await openVisitor()
    const { reports, waitUntilReported } = await intercept(site(), visit, ['lost'])
    await visit.page.goto(page)
    await waitUntilReported(1)
    expect(Object.keys(await readTab(visit))).toEqual([`towpath:${ws.publicId}:pages`])
    // A proxy or an extension sets the header only.
    await visit.context.setExtraHTTPHeaders({ 'Sec-GPC': '1' })
    await visit.page.goto(page)
    await until(
      'nothing is kept',
      async () => reports.length === 2 && Object.keys(await readTab(visit)).length === 0,
    )
    await visit.context.setExtraHTTPHeaders({})
    await visit.page.evaluate(`
      sessionStorage.setItem('towpath:${ws.publicId}:pages', '[{"u":"x"}]')
      sessionStorage.setItem('towpath:${ws.publicId}', 'of an earlier page')`)
    await visit.context.addInitScript(
      `Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`,
    )
    await visit.page.goto(page)
    expect(await readTab(visit)).toEqual({})
    expect(reports).toHaveLength(2)
    expect(await countViews(site(), ws)).toEqual([0, 0])
    await visit.close()
  })

  full('is no worse off where storage is refused, full, or holds what another script wrote', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const { reports, waitUntilReported, waitUntilAnswered } = await intercept(site(), visit, [
      'lost',
      'answered',
      'lost',
      'answered',
      'lost',
      'answered',
      'lost',
      'answered',
    ] as Fate[])
    const list = `towpath:${ws.publicId}:pages`
    for (const [index, script] of [
      `Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('refused') } })`,
      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`,
      `sessionStorage.setItem('${list}', 'x{')`,
      `sessionStorage.setItem('${list}', '[null]')`,
    ].entries()) {
      const before = `<script>sessionStorage.clear(); ${script}</script>${ws.tag}`
      await visit.page.goto(addPage(before))
      await waitUntilReported(2 * index + 1)
      await open(visit, addPage(`${before}${formOf(form)}`))
      await waitUntilAnswered(index + 1)
      await sendForm(visit)
      expect([script, reports.at(-1)?.p, visit.errors]).toEqual([script, undefined, []])
    }
    await visit.close()
    const linked = (await ws.listSubmissions(form.key)).map(({ sessionLinked }) => sessionLinked)
    expect(linked).toEqual([true, true, true, true])
  })

  full('does not lose the next page views to a list that the server refuses', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const page = addPage(ws.tag)
    const visit = await openVisitor()
    const { waitUntilReported } = await intercept(site(), visit, ['lost'])
    await visit.page.goto(page)
    await waitUntilReported(1)
    await visit.page.evaluate(`
      sessionStorage.setItem('towpath:${ws.publicId}:pages', JSON.stringify([{ u: 'no address', i: '1', t: Date.now() }]))`)
    await visit.page.goto(page)
    await until('the list is gone', async () => Object.keys(await readTab(visit)).length === 0)
    await visit.page.goto(page)
    await untilTold(visit, ws)
    await visit.close()
  })
})
