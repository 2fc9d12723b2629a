// Forms when something fails: blocked scripts, a network failure, native submission, and the back/forward cache.

import { expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const toFormHtml = (endpoint: string, extra = '') => `<form action="${endpoint}" method="post">
  <input name="email"><input name="note">${extra}<button name="by" value="button">Send</button></form>`

const FAILED = 'This could not be sent. Please try again.'

const abortFetches = (route: Route) =>
  route.request().resourceType() === 'fetch' ? route.abort() : route.continue()

onCustomerSite('when something fails', (site) => {
  test('a form works when the snippet is blocked', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks` })
    const visit = await openVisitor()
    await visit.context.route(/\/t\.js$/, (route) => route.abort())
    await visit.page.goto(addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
    await visit.page.fill('[name=note]', 'x')
    await visit.page.click('button')
    await visit.page.waitForURL(`${origin}/thanks`)
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: '', note: 'x', by: 'button' }])
    await visit.close()
  })

  full('the browser submits the forms when the snippet cannot load their settings', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks` })
    const visit = await openVisitor()
    await visit.context.route(/\/e(\/forms.*)?$/, (route) => route.abort())
    await visit.page.goto(addPage(`${ws.tag}${toFormHtml(form.endpoint)}`), { waitUntil: 'networkidle' })
    await visit.page.click('button')
    await visit.page.waitForURL(`${origin}/thanks`)
    expect(await ws.listStoredFields(form.key)).toHaveLength(1)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test('after a network failure the browser submits the form natively, once', async () => {
    const { createWorkspace, addPage, openVisitor, open, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks` })
    const visit = await openVisitor()
    const tries: string[] = []
    await visit.context.route(form.endpoint, (route) => {
      tries.push(route.request().resourceType())
      return abortFetches(route)
    })
    await open(
      visit,
      addPage(`${ws.tag}${toFormHtml(form.endpoint, '<input type="hidden" name="submit" value="1">')}`),
    )
    await visit.page.fill('[name=note]', 'x')
    await visit.page.dblclick('button')
    await visit.page.waitForURL(`${origin}/thanks`)
    expect(tries).toEqual(['fetch', 'document'])
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: '', note: 'x', submit: '1', by: 'button' }])
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('when the native submission fails too, the visitor sees an error and keeps the text', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const { page } = visit
    const tries: string[] = []
    await visit.context.route(form.endpoint, (route) => {
      tries.push(route.request().resourceType())
      return route.abort()
    })
    // Not Playwright's click: it waits for a navigation that never happens.
    const click = () => page.evaluate(`document.querySelector('button').click()`)
    const alert = () => page.evaluate(`document.querySelector('form [role=alert]')?.textContent`)
    // The policy blocks the native submission.
    await open(
      visit,
      addPage(`${ws.tag}${toFormHtml(form.endpoint)}`, { 'Content-Security-Policy': "form-action 'none'" }),
    )
    await page.fill('[name=note]', 'kept')
    await click()
    await until('the try', () => visit.errors.some((error) => error.includes('form-action')))
    const busy = () => page.evaluate(`document.querySelector('[aria-busy]') !== null`)
    await until('the browser to give up', async () => !(await busy()))
    await click()
    await until('the error message', async () => String(await alert()).includes('could not be sent'))
    expect(await page.evaluate('document.forms[0].note.value')).toBe('kept')
    expect(tries).toEqual(['fetch', 'fetch'])
    expect(await ws.listStoredFields(form.key)).toEqual([])
    await visit.close()
  })

  full.each([
    ['the error page of a proxy', 502, '<h1>Bad gateway</h1>', 'could not be sent'],
    ['the page of a captive portal', 200, '<h1>Please sign in</h1>', 'could not be sent'],
    [
      'a rate limit',
      429,
      '{"error":"Too many submissions. Please try again later."}',
      'Too many submissions',
    ],
  ])('%s leads to an error message and no automatic retry', async (_, status, body, message) => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    await visit.context.route(form.endpoint, (route) =>
      route.fulfill({ status, body, headers: { 'Access-Control-Allow-Origin': '*' } }),
    )
    const url = addPage(`${ws.tag}${toFormHtml(form.endpoint)}`)
    await open(visit, url)
    await visit.page.fill('[name=note]', 'kept')
    await visit.page.click('button')
    await visit.page.locator('form [role=alert]', { hasText: message }).waitFor()
    expect(await visit.page.inputValue('[name=note]')).toBe('kept')
    expect(visit.page.url()).toBe(url)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  test('errors in the URL are shown at their fields, and removed from the URL', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ requiredFields: ['note', 'phone'] })
    const visit = await openVisitor()
    const { page } = visit
    await visit.context.route(form.endpoint, abortFetches)
    const url = addPage(`<meta name="referrer" content="unsafe-url">${ws.tag}
      <form><input name="email"></form>${toFormHtml(form.endpoint)}`)
    await open(visit, `${url}?plan=a%20b&x=#part`)
    await page.fill('form:last-of-type [name=email]', 'no')
    await page.click('button')
    await page.locator('[name=note][aria-invalid]').waitFor()
    expect(await page.locator('form:last-of-type [role=alert]').textContent()).toBe(
      'This could not be sent. Please try again.',
    )
    expect(await page.locator('form:last-of-type [name=email] + .towpath-error').textContent()).toBe(
      'Enter a valid email address',
    )
    expect(await page.locator('form:first-of-type [aria-invalid]').count()).toBe(0)
    expect(page.url()).toBe(`${url}?plan=a%20b&x=`)
    // The next submission removes them.
    await visit.context.unroute(form.endpoint)
    await until('facts', () =>
      page.evaluate(
        `performance.getEntriesByType('resource').some((e) => e.name.includes('/e/forms') && e.responseEnd > 0)`,
      ),
    )
    await page.fill('form:last-of-type [name=email]', 'a@example.com')
    await page.click('button')
    await until('the answer', async () => (await page.locator('[name=email][aria-invalid]').count()) === 0)
    expect(await page.locator('.towpath-error', { hasText: 'valid email' }).count()).toBe(0)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full.each([
    ['markup', '{"note":"<img src=x onerror=alert(1)><b>hi</b>"}', 'Please check this field'],
    ['a text of a stranger', '{"note":"Your account is locked. Call 0900 1234."}', 'Please check this field'],
    ['a name of a stranger', '{"Call 0900 1234":"This field is required"}', FAILED],
    ['a text as captcha', '{"cf-turnstile-response":"Call 0900 1234"}', 'Please check this field'],
    ['a message of ours', '{"note":"This field is required"}', 'This field is required'],
    ['a list', '["a"]', undefined],
    ['no JSON', '{"note', undefined],
    ['nothing', 'null', undefined],
    ['a number', '{"note":5}', 'Please check this field'],
  ])('forged errors in the URL show no text of a stranger: %s', async (_, errors, shown) => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const { page } = visit
    const url = addPage(`${ws.tag}${toFormHtml(form.endpoint)}`)
    await open(visit, `${url}?_errors=${encodeURIComponent(errors)}`)
    const texts = await page.locator('.towpath-error').allTextContents()
    expect(texts).toEqual(shown === undefined ? [] : [shown])
    expect(await page.locator('img, b').count()).toBe(0)
    expect(page.url()).toBe(url)
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('a form can be submitted again when its page returns from the back/forward cache', async () => {
    const { createWorkspace, addPage, openVisitor, open, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks`, captcha: true })
    const visit = await openVisitor()
    const { page } = visit
    await visit.context.route(form.endpoint, abortFetches)
    const url = addPage(`${ws.tag}${toFormHtml(form.endpoint)}`)
    await open(visit, url)
    await page.evaluate('window.same = true')
    await page.fill('[name=note]', 'first')
    await page.click('button')
    await page.waitForURL(`${origin}/thanks`)
    await visit.context.unroute(form.endpoint)
    await page.evaluate('history.back()')
    await until('the page', () => page.url() === url)
    expect(await page.evaluate('window.same')).toBe(true)
    await page.fill('[name=note]', 'second')
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect((await ws.listStoredFields(form.key)).map(({ note }) => note)).toEqual(['first', 'second'])
    expect(visit.errors).toEqual([])
    await visit.close()
  })
})
