// Captchas on a customer's page: the built-in proof of work, and Turnstile with a stand-in for its script.

import { afterAll, expect, test } from 'bun:test'
import { type CustomerSite, onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'
import { startSiteverify, type TurnstileWidget } from '../support/fake-servers/turnstile-siteverify.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const toFormHtml = (endpoint: string) => `<form action="${endpoint}" method="post">
  <input name="email"><input name="note"><button>Send</button></form>`

const waitForMessage = (visitor: SiteVisitor, text: string) =>
  visitor.page.locator('form p', { hasText: text }).waitFor()

onCustomerSite('the built-in proof of work', (site) => {
  test('runs while the visitor fills in the form, once for each submission', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true, requiredFields: ['note'] })
    const visit = await openVisitor()
    const { page, errors } = visit
    // The second of two parts would need a second policy of the same name.
    const policy = { 'Content-Security-Policy': "require-trusted-types-for 'script'; trusted-types towpath" }
    await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`, policy))
    await page.click('button')
    await page.locator('[name=note][aria-invalid]').waitFor()
    await page.fill('[name=note]', 'first')
    await page.click('button')
    await waitForMessage(visit, 'Thank')
    await page.fill('[name=note]', 'second')
    await until('the second', async () => {
      await page.click('button')
      return (await ws.listStoredFields(form.key)).length === 2
    })
    expect((await ws.listStoredFields(form.key)).map(({ note }) => note)).toEqual(['first', 'second'])
    expect(errors).toEqual([])
    await visit.close()
  })

  full('requests a new challenge when the page was open for longer than the challenge is valid', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const { page } = visit
    await page.clock.install()
    await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
    await page.waitForFunction('window.towpath.captcha')
    await page.clock.fastForward('09:30')
    const fresh = page.waitForRequest(/\/e\/forms/)
    await page.focus('[name=note]')
    await fresh
    await page.click('button')
    await waitForMessage(visit, 'Thank')
    await visit.close()
  })

  full('loads its script only when a form of the page needs it', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const visit = await openVisitor()
    const urls: string[] = []
    visit.page.on('request', (request) => urls.push(request.url()))
    await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
    await visit.page.click('button')
    await waitForMessage(visit, 'Thank')
    expect(urls.filter((url) => url.includes('captcha'))).toEqual([])
    await visit.close()
  })

  full('shows an error when its script cannot load, and loads it at the next try', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const visit = await openVisitor()
    const { page, context, errors } = visit
    await context.route(/\/e\/captcha-/, (route) => route.abort())
    await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
    await page.fill('[name=note]', 'kept')
    await page.click('button')
    await waitForMessage(visit, 'Captcha verification required')
    expect(await page.inputValue('[name=note]')).toBe('kept')
    await context.unroute(/\/e\/captcha-/)
    await page.click('button')
    await waitForMessage(visit, 'Thank')
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: '', note: 'kept' }])
    expect(errors).toEqual([])
    await visit.close()
  })

  full('is part of the form when the browser sends it natively', async () => {
    const { createWorkspace, addPage, openVisitor, open, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ captcha: true, redirectUrl: `${origin}/thanks` })
    const visit = await openVisitor()
    const { page, context } = visit
    await context.route(form.endpoint, (route) =>
      route.request().resourceType() === 'fetch' ? route.abort() : route.continue(),
    )
    await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
    await page.fill('[name=note]', 'native')
    await page.click('button')
    await page.waitForURL(`${origin}/thanks`)
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: '', note: 'native' }])
    await visit.close()
  })
})

const SECRET = 'the secret of the widget'
const verifier = startSiteverify(SECRET)
afterAll(() => verifier.close())

/** The part of Cloudflare's script that the snippet uses (https://developers.cloudflare.com/turnstile). */
const STAND_IN = `
  const widgets = {}
  const challenge = async (it) => {
    it.token = ''
    if (!window.slow) it.token = await makeToken({
      hostname: location.hostname, action: it.options.action, cdata: it.options.cData })
    it.input.value = it.token
    if (it.token) it.options.callback(it.token)
  }
  window.turnstile = {
    render(box, options) {
      const id = 'w' + Object.keys(widgets).length
      const input = document.createElement('input')
      input.type = 'hidden'
      input.name = 'cf-turnstile-response'
      box.append(input)
      challenge(widgets[id] = { options, input })
      return id
    },
    reset(id) { window.resets = (window.resets ?? 0) + 1; challenge(widgets[id]) },
    getResponse: (id) => widgets[id].token,
  }
`

async function openVisitorWithTurnstile(site: CustomerSite): Promise<SiteVisitor & { loaded: string[] }> {
  const visit = await site.openVisitor()
  const loaded: string[] = []
  await visit.context.exposeFunction('makeToken', (widget: TurnstileWidget) => verifier.createToken(widget))
  await visit.context.route('https://challenges.cloudflare.com/**', (route) => {
    loaded.push(route.request().url())
    return route.fulfill({ contentType: 'text/javascript', body: STAND_IN })
  })
  return { ...visit, loaded }
}

onCustomerSite(
  'Turnstile',
  (site) => {
    test('is rendered before the button, fills the field, and is reset after each try', async () => {
      const { createWorkspace, addPage, open } = site()
      const ws = await createWorkspace()
      const one = await ws.createForm({ captcha: true, requiredFields: ['note'] })
      const two = await ws.createForm({ captcha: true })
      const visit = await openVisitorWithTurnstile(site())
      const { page, errors } = visit
      await open(
        visit,
        addPage(
          `${ws.tag}${toFormHtml(one.endpoint)}${toFormHtml(two.endpoint).replace('<form', '<form id="two"')}`,
          {
            'Content-Security-Policy':
              "require-trusted-types-for 'script'; trusted-types towpath towpath-captcha",
          },
        ),
      )
      const form = page.locator('form').first()
      await form.locator('div:has(> [name=cf-turnstile-response]) + button').waitFor()
      await form.locator('button').click()
      await form.locator('[aria-invalid]').waitFor()
      await until('a reset', () => page.evaluate('window.resets === 1'))
      await form.locator('[name=note]').fill('first')
      await form.locator('button').click()
      await form.locator('p', { hasText: 'Thank' }).waitFor()
      await until('another', () => page.evaluate('window.resets === 2'))
      await page.click('#two button')
      await page.locator('#two p', { hasText: 'Thank' }).waitFor()
      expect(await ws.listStoredFields(one.key)).toEqual([{ email: '', note: 'first' }])
      expect(await ws.listStoredFields(two.key)).toHaveLength(1)
      expect(visit.loaded).toEqual(['https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'])
      expect(errors).toEqual([])
      await visit.close()
    })

    full(
      'delays a submission while it has no token, but not forever: then the server asks for the captcha',
      async () => {
        const { createWorkspace, addPage, open } = site()
        const ws = await createWorkspace()
        const form = await ws.createForm({ captcha: true })
        const visit = await openVisitorWithTurnstile(site())
        const { page } = visit
        await visit.context.addInitScript('window.slow = true')
        await page.clock.install()
        await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
        await page.locator('[name=cf-turnstile-response]').waitFor({ state: 'attached' })
        await page.click('button')
        await page.clock.runFor(9_000)
        await waitForMessage(visit, 'Captcha verification required')
        expect(await ws.listStoredFields(form.key)).toEqual([])
        await page.evaluate('window.slow = false; turnstile.reset("w0")')
        await page.click('button')
        await waitForMessage(visit, 'Thank')
        await visit.close()
      },
    )

    full('does not break the form when it is blocked', async () => {
      const { createWorkspace, addPage, openVisitor, open } = site()
      const ws = await createWorkspace()
      const form = await ws.createForm({ captcha: true })
      const visit = await openVisitor()
      await visit.context.route('https://challenges.cloudflare.com/**', (route) => route.abort())
      await open(visit, addPage(`${ws.tag}${toFormHtml(form.endpoint)}`))
      await visit.page.fill('[name=note]', 'kept')
      await visit.page.click('button')
      await waitForMessage(visit, 'Captcha verification required')
      expect(await visit.page.inputValue('[name=note]')).toBe('kept')
      expect(visit.errors).toEqual([])
      await visit.close()
    })
  },
  {
    environment: {
      TURNSTILE_SITE_KEY: '0x4AAAAAAAtest',
      TURNSTILE_SECRET_KEY: SECRET,
      TURNSTILE_VERIFY_URL: verifier.url,
    },
  },
)
