// The snippet on strict pages and at unusual addresses: policies, pinned versions, proxies, plain http.

import { expect, test } from 'bun:test'
import { type CustomerSite, onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'

const pageOf = (endpoint: string) => `<form action="${endpoint}" method="post">
  <input name="email"><input name="note"><button name="by" value="button">Send</button></form>`

/** A wrong try, then a good one. */
async function fillIn(site: CustomerSite, visit: SiteVisitor, url: string) {
  const { page } = visit
  await site.open(visit, url)
  await page.fill('[name=email]', 'no')
  await page.click('button')
  await page.locator('[name=email][aria-invalid]').waitFor()
  await page.fill('[name=email]', 'ada@example.com')
  await page.click('button')
  await page.locator('form [role=status]', { hasText: 'Thank you' }).waitFor()
  expect(page.url()).toBe(url)
}

const STORED = [{ email: 'ada@example.com', note: '', by: 'button' }]

onCustomerSite('the snippet', (site) => {
  test('breaks no policy of a page that allows its server and nothing else', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const policy = `default-src 'none'; script-src ${server.origin}; connect-src ${server.origin}; form-action ${server.origin}; base-uri 'none'; style-src 'none'; img-src data:`
    await fillIn(
      site(),
      visit,
      addPage(`${ws.tag}${pageOf(form.endpoint)}`, { 'Content-Security-Policy': policy }),
    )
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test('hands its nonce on, where a policy goes by nonces', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const policy = `default-src 'none'; script-src 'nonce-abc'; connect-src ${server.origin}; img-src data:`
    const html = `${ws.tag.replace('<script', '<script nonce="abc"')}${pageOf(form.endpoint)}`
    await fillIn(site(), visit, addPage(html, { 'Content-Security-Policy': policy }))
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test('can be pinned by its hash, which the moving file’s answer names, on a page that is isolated', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const link = (await server.call('/t.js')).headers.get('link') ?? ''
    const [, src, integrity] = /^<(.*)>; rel="alternate"; integrity="(.*)"$/.exec(link) ?? []
    const visit = await openVisitor()
    const html = `<script defer src="${src}" integrity="${integrity}" crossorigin data-workspace="${ws.publicId}"></script>
      ${pageOf(form.endpoint)}`
    await fillIn(site(), visit, addPage(html, { 'Cross-Origin-Embedder-Policy': 'require-corp' }))
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test.each([
    ['that name the proxy', '/tp/f/'],
    ['that name the server', undefined],
  ])(
    'talks only to the address it came from, through a proxy on the site’s own domain, for forms %s',
    async (_, own) => {
      const { createWorkspace, addPage, openVisitor, origin, server } = site()
      const ws = await createWorkspace()
      const form = await ws.createForm({ captcha: true })
      const visit = await openVisitor()
      const asked: string[] = []
      visit.page.on('request', (request) => asked.push(request.url()))
      const html = `<script defer src="/tp/t.js?v=1" data-workspace="${ws.publicId}"></script>
      ${pageOf(own ? own + form.key : form.endpoint)}`
      await fillIn(site(), visit, addPage(html))
      expect(await ws.listStoredFields(form.key)).toEqual(STORED)
      const foreign = asked.filter((url) => url.startsWith(server.origin))
      expect(foreign).toEqual(own ? [] : [form.endpoint, form.endpoint])
      expect(asked.some((url) => url.startsWith(`${origin}/tp/e/captcha-`))).toBe(true)
      expect(visit.errors).toEqual([])
      await visit.close()
    },
  )

  test('works on plain http, where browsers say less and can do less', async () => {
    const { createWorkspace, addPage, openVisitor, plainOrigin, plainServer } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const url = addPage(
      `<script defer src="${plainServer}/t.js" data-workspace="${ws.publicId}"></script>
        ${pageOf(`${plainServer}/f/${form.key}`)}`,
    )
    const sent = visit.page.waitForRequest((request) => request.url().includes('/f/'))
    await fillIn(site(), visit, plainOrigin + new URL(url).pathname)
    expect(await visit.page.evaluate('isSecureContext')).toBe(false)
    expect((await (await sent).allHeaders())['sec-fetch-mode']).toBeUndefined()
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test('that a page has twice, as a module, or without an address breaks nothing', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const inline = await (await fetch(`${server.origin}/t.js`)).text()
    const twice = addPage(`${ws.tag}${ws.tag}${pageOf(form.endpoint)}`)
    await fillIn(site(), visit, twice)
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    await fillIn(
      site(),
      visit,
      addPage(`${ws.tag.replace('defer', 'type="module"')}${pageOf(form.endpoint)}`),
    )
    expect(await ws.listStoredFields(form.key)).toHaveLength(2)
    const pasted = addPage(`<script>${inline}</script>${pageOf(form.endpoint)}`)
    await visit.page.goto(pasted, { waitUntil: 'load' })
    expect(visit.errors).toEqual([])
    await visit.close()
  })
})

onCustomerSite(
  'a renamed snippet',
  (site) => {
    test.each([
      ['by its moving name', false],
      ['pinned', true],
    ])('finds its own intake, %s', async (_, pinned) => {
      const { createWorkspace, addPage, openVisitor, server } = site()
      const ws = await createWorkspace()
      const form = await ws.createForm({ captcha: true })
      const moving = await server.call('/harbour.js')
      const src = pinned
        ? /<(.*?)>/.exec(moving.headers.get('link') ?? '')?.[1]
        : `${server.origin}/harbour.js`
      const visit = await openVisitor()
      const asked = new Set<string>()
      visit.page.on('request', (request) => asked.add(request.url()))
      const html = `<script defer src="${src}" data-workspace="${ws.publicId}"></script>${pageOf(form.endpoint)}`
      await fillIn(site(), visit, addPage(html))
      expect(await ws.listStoredFields(form.key)).toEqual(STORED)
      const paths = [...asked]
        .filter((url) => url.startsWith(server.origin))
        .map((url) => new URL(url).pathname)
      expect(paths.filter((path) => !/^\/(dock|f)\/|^\/dock$|^\/harbour\.js$/.test(path))).toEqual([])
      expect(paths).toContain('/dock')
      expect((await server.call('/t.js')).status).toBe(404)
      expect(visit.errors).toEqual([])
      await visit.close()
    })
  },
  { environment: { SNIPPET_PATH: 'harbour.js', INTAKE_PATH: 'dock' } },
)
