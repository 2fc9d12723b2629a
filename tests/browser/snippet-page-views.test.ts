// The page views that the snippet sends, and the one thing that it stores: an event id in sessionStorage.

import { expect, test } from 'bun:test'
import { type CustomerSite, onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

interface View {
  w: string
  u: string
  r: string
  i: string
  e?: string
}

/** Records page views and their answers. `replacement.answer` replaces the server's answers. */
async function recordPageViews(site: CustomerSite, visit: SiteVisitor) {
  const views: View[] = []
  const types: string[] = []
  const ids: string[] = []
  const replacement: { answer?: { status: number; body: string } } = {}
  await visit.context.route(`${site.server.origin}/e`, async (route) => {
    const request = route.request()
    views.push(request.postDataJSON())
    types.push(`${request.method()} ${request.headers()['content-type']}`)
    const headers = { 'Access-Control-Allow-Origin': '*' }
    if (replacement.answer) return route.fulfill({ ...replacement.answer, headers })
    const response = await route.fetch()
    ids.push((await response.json()).e)
    return route.fulfill({ response })
  })
  return {
    views,
    types,
    ids,
    replacement,
    waitUntilSent: (count: number) => until(`view ${count}`, () => views.length >= count),
    /** Resolves when the page has stored the event id from the answer to this view. */
    waitUntilAnswered: (count: number) =>
      until(
        `answer ${count}`,
        async () => views.length >= count && (await readSessionStorage(visit)).includes(ids[count - 1] ?? ''),
      ),
  }
}

const readSessionStorage = (visit: SiteVisitor) =>
  visit.page.evaluate<string[]>('Object.values(sessionStorage)')

onCustomerSite('a page view', (site) => {
  test('is sent without a preflight, with the page, the referrer and the last event id', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const visit = await openVisitor()
    const { views, types, ids, waitUntilAnswered } = await recordPageViews(site(), visit)
    const second = addPage(ws.tag)
    const first = addPage(`${ws.tag}<a href="${second}">On</a>`)
    const before = addPage(
      `<meta name="referrer" content="unsafe-url"><a href="${first}?utm_source=mail&tp_cid=abc&_errors=%7B%7D#secret">Go</a>`,
    )
    await visit.page.goto(before)
    await visit.page.click('a')
    await waitUntilAnswered(1)
    await visit.page.click('a')
    await waitUntilAnswered(2)
    const random = expect.stringMatching(/^[0-9]{8,20}$/)
    expect(views).toEqual([
      { w: ws.publicId, u: `${first}?utm_source=mail&tp_cid=abc`, r: before, i: random },
      { w: ws.publicId, u: second, r: `${first}?utm_source=mail&tp_cid=abc`, e: ids[0] as string, i: random },
    ])
    expect(views[0]?.i).not.toBe(views[1]?.i as string)
    expect(types[0]).toBe('POST text/plain;charset=UTF-8')
    expect(await visit.context.cookies()).toEqual([])
    expect(await visit.page.evaluate('localStorage.length')).toBe(0)
    expect(await visit.page.evaluate('Object.keys(sessionStorage)')).toEqual([`towpath:${ws.publicId}`])
    expect(visit.errors).toEqual([])
    expect(origin).toBe(new URL(first).origin)
    await visit.close()
  })

  test('adds its event id to submissions, including native ones', async () => {
    const { createWorkspace, addPage, openVisitor, open, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks` })
    const visit = await openVisitor()
    const { ids, waitUntilAnswered } = await recordPageViews(site(), visit)
    const bodies: string[] = []
    await visit.context.route(form.endpoint, (route) => {
      bodies.push(route.request().postData() ?? '')
      return route.continue()
    })
    const page = (id: string) => `<form id="${id}" action="${form.endpoint}" method="post">
      <input name="_service_eid" value="by hand"><button>Send</button></form>`
    await open(visit, addPage(`${ws.tag}${page('one')}<main></main>`))
    await waitUntilAnswered(1)
    await visit.page.click('#one button')
    await until('the first', () => bodies.length === 1)
    await visit.page.evaluate(`document.querySelector('main').innerHTML = ${JSON.stringify(page('late'))}`)
    await visit.page.click('#late button')
    await visit.page.waitForURL(`${origin}/thanks`)
    expect(bodies[0]).toContain(`name="_service_eid"\r\n\r\n${ids[0]}\r\n`)
    expect(bodies[1]).toBe(`_service_eid=${ids[0]}&_lang=en`)
    const linked = (await ws.listSubmissions(form.key)).map(({ sessionLinked }) => sessionLinked)
    expect(linked).toEqual([true, true])
    await visit.close()
  })

  full('delays a submission while it is being sent, but for one second at most', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    await visit.page.clock.install()
    await visit.context.route(`${site().server.origin}/e`, () => {})
    await open(
      visit,
      addPage(`${ws.tag}<form action="${form.endpoint}" method="post"><button>Send</button></form>`),
    )
    await visit.page.click('button')
    expect(await visit.page.locator('form').getAttribute('aria-busy')).toBe('true')
    expect(await ws.listStoredFields(form.key)).toEqual([])
    await visit.page.clock.runFor(1_000)
    await visit.page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toHaveLength(1)
    await visit.close()
  })

  test('is not sent under Global Privacy Control, or without a workspace', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const { views } = await recordPageViews(site(), visit)
    let body = ''
    visit.page.on('request', (request) => {
      if (request.url() === form.endpoint) body = request.postData() ?? ''
    })
    const html = `<form action="${form.endpoint}" method="post"><input name="a"><button>Send</button></form>`
    await open(visit, addPage(`${ws.tag.replace(/data-workspace="[^"]*"/, '')}${html}`))
    await visit.context.addInitScript(`
      Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })
      sessionStorage.setItem('towpath:${ws.publicId}', 'of an earlier page')`)
    await open(visit, addPage(`${ws.tag}${html}`))
    await visit.page.click('button')
    await visit.page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(views).toEqual([])
    expect(body).toContain('name="a"')
    expect(body).not.toContain('_service_eid')
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('of a prerendered page is sent when the page becomes visible, with the latest event id', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const visit = await openVisitor()
    const { views, waitUntilAnswered } = await recordPageViews(site(), visit)
    await visit.page.goto(addPage(ws.tag))
    await waitUntilAnswered(1)
    await visit.page.addInitScript(`
      Object.defineProperty(document, 'visibilityState', { get: () => window.seen ? 'visible' : 'hidden' })`)
    await visit.page.goto(addPage(ws.tag), { waitUntil: 'networkidle' })
    expect(views).toHaveLength(1)
    await visit.page.evaluate(`
      sessionStorage.setItem('towpath:${ws.publicId}', 'in between')
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      window.seen = true
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await waitUntilAnswered(2)
    await visit.page.goto(addPage('<p>Done</p>'))
    expect(views.map(({ e }) => e)).toEqual([undefined, 'in between'])
    await visit.close()
  })

  full('is sent again when a page returns from the back/forward cache', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const visit = await openVisitor()
    const { views, ids, waitUntilAnswered } = await recordPageViews(site(), visit)
    const first = addPage(ws.tag)
    const second = addPage(ws.tag)
    await visit.page.goto(first)
    await waitUntilAnswered(1)
    await visit.page.evaluate('window.same = true')
    await visit.page.goto(second)
    await waitUntilAnswered(2)
    await visit.page.evaluate('history.back()')
    await waitUntilAnswered(3)
    expect(await visit.page.evaluate('window.same')).toBe(true)
    expect(views.map(({ u, e }) => [u, e])).toEqual([
      [first, undefined],
      [second, ids[0]],
      [first, ids[1]],
    ])
    await visit.close()
  })

  full('whose answer is invalid or an error does not disturb the page or its form', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const { page } = visit
    const { replacement, waitUntilSent } = await recordPageViews(site(), visit)
    const url = addPage(`${ws.tag}<form action="${form.endpoint}" method="post"><button>Send</button></form>`)
    let views = 0
    for (const [status, body, kept] of [
      [200, '{"e":null}', 0],
      // The next page reports these page views again.
      [500, '{"error":"Internal server error"}', 1],
      [200, '<h1>Hello</h1>', 2],
      [200, 'null', 3],
      [200, '{"e":null}', 0],
    ] as const) {
      replacement.answer = { status, body }
      await open(visit, url)
      await waitUntilSent(++views)
      await page.click('button')
      await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
      const stored = await readSessionStorage(visit)
      expect([body, stored.flatMap((text) => JSON.parse(text)).length]).toEqual([body, kept])
      expect([body, visit.errors]).toEqual([body, []])
      expect([body, (await ws.listStoredFields(form.key)).length]).toEqual([body, views])
    }
    await visit.close()
  })

  full('is sent without sessionStorage, and with a URL that is cut when it is very long', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const visit = await openVisitor()
    const { views, waitUntilSent, replacement } = await recordPageViews(site(), visit)
    replacement.answer = { status: 200, body: '{"e":"id"}' }
    await visit.context.addInitScript(`
      Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('refused') } })`)
    await visit.page.goto(`${addPage(ws.tag)}?${'x'.repeat(10_000)}`)
    await waitUntilSent(1)
    expect(JSON.stringify(views[0]).length).toBeLessThan(6_000)
    expect(visit.errors).toEqual([])
    await visit.close()
  })
})
