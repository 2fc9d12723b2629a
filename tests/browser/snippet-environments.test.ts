// The snippet under a strict Content-Security-Policy, pinned by hash, behind a proxy, renamed, and on plain http.

import { expect, test } from 'bun:test'
import { type CustomerSite, onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'

const toFormHtml = (endpoint: string) => `<form action="${endpoint}" method="post">
  <input name="email"><input name="note"><button name="by" value="button">Send</button></form>`

/** Opens a page and submits its form twice: first with an invalid email address, then with a valid one. */
async function submitWithError(site: CustomerSite, visit: SiteVisitor, url: string) {
  const { page } = visit
  await site.open(visit, url)
  await page.fill('[name=email]', 'no')
  await page.click('button')
  await page.locator('[name=email][aria-invalid]').waitFor()
  await page.fill('[name=email]', 'ada@example.com')
  await page.click('button')
  await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
  expect(page.url()).toBe(url)
}

const STORED = [{ email: 'ada@example.com', note: '', by: 'button' }]

onCustomerSite('the snippet', (site) => {
  test('works under a policy that allows only the server', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const policy = `default-src 'none'; script-src ${server.origin}; connect-src ${server.origin}; form-action ${server.origin}; base-uri 'none'; style-src 'none'; img-src data:`
    await submitWithError(
      site(),
      visit,
      addPage(`${ws.tag}${toFormHtml(form.endpoint)}`, { 'Content-Security-Policy': policy }),
    )
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('passes its nonce on to the scripts that it loads', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const policy = `default-src 'none'; script-src 'nonce-abc'; connect-src ${server.origin}; img-src data:`
    const html = `${ws.tag.replace('<script', '<script nonce="abc"')}${toFormHtml(form.endpoint)}`
    await submitWithError(site(), visit, addPage(html, { 'Content-Security-Policy': policy }))
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('can be pinned by the hash in the Link header of /t.js, on a cross-origin isolated page', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const link = (await server.call('/t.js')).headers.get('link') ?? ''
    const [, src, integrity] = /^<(.*)>; rel="alternate"; integrity="(.*)"$/.exec(link) ?? []
    const visit = await openVisitor()
    const html = `<script defer src="${src}" integrity="${integrity}" crossorigin data-workspace="${ws.publicId}"></script>
      ${toFormHtml(form.endpoint)}`
    await submitWithError(site(), visit, addPage(html, { 'Cross-Origin-Embedder-Policy': 'require-corp' }))
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full.each([
    ['that name the proxy', '/tp/f/'],
    ['that name the server', undefined],
  ])('sends requests only to the proxy it was loaded from, for forms %s', async (_, own) => {
    const { createWorkspace, addPage, openVisitor, origin, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const requests: string[] = []
    visit.page.on('request', (request) => requests.push(request.url()))
    const html = `<script defer src="/tp/t.js?v=1" data-workspace="${ws.publicId}"></script>
      ${toFormHtml(own ? own + form.key : form.endpoint)}`
    await submitWithError(site(), visit, addPage(html))
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    const foreign = requests.filter((url) => url.startsWith(server.origin))
    expect(foreign).toEqual(own ? [] : [form.endpoint, form.endpoint])
    expect(requests.some((url) => url.startsWith(`${origin}/tp/e/captcha-`))).toBe(true)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('works on plain http, without Sec-Fetch headers and without a secure context', async () => {
    const { createWorkspace, addPage, openVisitor, plainOrigin, plainServer } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const url = addPage(
      `<script defer src="${plainServer}/t.js" data-workspace="${ws.publicId}"></script>
        ${toFormHtml(`${plainServer}/f/${form.key}`)}`,
    )
    const sent = visit.page.waitForRequest((request) => request.url().includes('/f/'))
    await submitWithError(site(), visit, plainOrigin + new URL(url).pathname)
    expect(await visit.page.evaluate('isSecureContext')).toBe(false)
    expect((await (await sent).allHeaders())['sec-fetch-mode']).toBeUndefined()
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('works when a page has it twice, as a module, or inline', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const inline = await (await fetch(`${server.origin}/t.js`)).text()
    const twice = addPage(`${ws.tag}${ws.tag}${toFormHtml(form.endpoint)}`)
    await submitWithError(site(), visit, twice)
    expect(await ws.listStoredFields(form.key)).toEqual(STORED)
    await submitWithError(
      site(),
      visit,
      addPage(`${ws.tag.replace('defer', 'type="module"')}${toFormHtml(form.endpoint)}`),
    )
    expect(await ws.listStoredFields(form.key)).toHaveLength(2)
    const pasted = addPage(`<script>${inline}</script>${toFormHtml(form.endpoint)}`)
    await visit.page.goto(pasted, { waitUntil: 'load' })
    expect(visit.errors).toEqual([])
    await visit.close()
  })
})

onCustomerSite(
  'a renamed snippet',
  (site) => {
    full.each([
      ['by its latest name', false],
      ['pinned', true],
    ])('sends page views to its own path, %s', async (_, pinned) => {
      const { createWorkspace, addPage, openVisitor, server } = site()
      const ws = await createWorkspace()
      const form = await ws.createForm({ captcha: true })
      const latest = await server.call('/harbour.js')
      const src = pinned
        ? /<(.*?)>/.exec(latest.headers.get('link') ?? '')?.[1]
        : `${server.origin}/harbour.js`
      const visit = await openVisitor()
      const requests = new Set<string>()
      visit.page.on('request', (request) => requests.add(request.url()))
      const html = `<script defer src="${src}" data-workspace="${ws.publicId}"></script>${toFormHtml(form.endpoint)}`
      await submitWithError(site(), visit, addPage(html))
      expect(await ws.listStoredFields(form.key)).toEqual(STORED)
      const paths = [...requests]
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
