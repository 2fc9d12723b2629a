// Forms without the snippet in a real browser: the pages of this server for senders, and the examples of the setup as
// they stand.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ExampleForm } from '../../dashboard/pages/forms/form-controls.ts'
import { fetchExample, reactExample } from '../../dashboard/pages/forms/form-examples.ts'
import { onCustomerSite, type SiteVisitor } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const HOSTED = { afterSubmit: 'hosted', onError: 'hosted', successMessage: 'We call you back.' }
const NOT_SENT = 'This could not be sent. Check your connection and try again.'

onCustomerSite('a form without the snippet', (site) => {
  test('leads from a mistake back to the form with the text, and then thanks with a way back', async () => {
    const { createWorkspace, addPage, openVisitor, server } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ ...HOSTED, requiredFields: ['first_name'] })
    const url = addPage(`<meta name="referrer" content="no-referrer-when-downgrade">
      <form action="${form.endpoint}" method="post"><input name="email"><input name="first_name">
      <textarea name="message"></textarea><button>Send</button></form>`)
    const { page, errors, close } = await openVisitor()
    await page.goto(url)
    await page.fill('[name=email]', 'ada@')
    await page.fill('textarea', 'A long text')
    await page.click('button')
    await page.locator('h1', { hasText: 'Please check the form' }).waitFor()
    expect(await page.locator('[role=alert] li').allTextContents()).toEqual([
      'First name: This field is required',
      'Email: Enter a valid email address',
    ])
    await page.click('text=Back to the form')
    await until('the form', () => page.url() === url)
    expect(await page.inputValue('textarea')).toBe('A long text')
    await page.fill('[name=email]', 'ada@example.com')
    await page.fill('[name=first_name]', 'Ada')
    await page.click('button')
    await page.waitForURL(`${server.origin}/f/${form.key}/thanks`)
    expect(await page.textContent('.message')).toBe('We call you back.')
    // The browser named the page, by the page's own policy. No address and no setting did.
    expect(await page.getAttribute('a', 'href')).toBe(url)
    await page.click('a')
    await page.waitForURL(url)
    expect(await ws.listStoredFields(form.key)).toEqual([
      { email: 'ada@example.com', first_name: 'Ada', message: 'A long text' },
    ])
    expect(errors).toEqual([])
    await close()
  })

  test('tells the page around a frame how the submission ended, where the form names that page', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ ...HOSTED, requiredFields: ['name'], pageUrl: `${origin}/contact` })
    const other = await ws.createForm(HOSTED)
    const url = addPage(`<form action="${form.endpoint}" method="post" target="answer"><input name="name">
      <button>Send</button></form><iframe name="answer"></iframe>
      <script>const told = []; addEventListener('message', ({ data }) => told.push(data))</script>`)
    const { page, close } = await openVisitor()
    await page.goto(url)
    const told = () => page.evaluate<unknown[]>('told')
    await page.click('button')
    await until('the refusal', async () => (await told()).length === 1)
    await page.fill('[name=name]', 'Ada')
    await page.click('button')
    await until('the success', async () => (await told()).length === 2)
    expect(await told()).toEqual([
      { towpath: 'refused', formKey: form.key },
      { towpath: 'accepted', formKey: form.key },
    ])
    const policy = (await fetch(`${other.endpoint}/thanks`)).headers.get('content-security-policy')
    expect(policy).toContain("frame-ancestors 'none'")
    await close()
  })

  full('leads back to the page that its settings name, where browsers tell only the site', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const pageUrl = `${origin}/contact`
    const form = await ws.createForm({ pageUrl })
    const url = addPage(`<form action="${form.endpoint}" method="post"><button>Send</button></form>`)
    const { page, close } = await openVisitor()
    await page.goto(url)
    await page.click('button')
    await page.waitForURL(pageUrl)
    await close()
  })

  const examples: [string, (form: ExampleForm) => string | Promise<string>][] = [
    ['fetch', fetchExample],
    ['React', toReactPage],
  ]
  full.each(examples)(
    'the %s example says that nothing was sent, and sends once for a double click',
    async (_, write) => {
      const { createWorkspace, addPage, openVisitor } = site()
      const ws = await createWorkspace()
      const settings = { requiredFields: ['email'], captcha: false, successMessage: 'It’s "here" </p>' }
      const form = await ws.createForm(settings)
      const visitor = await openVisitor()
      const { page, errors, close } = visitor
      await page.goto(addPage(await write({ ...settings, endpoint: form.endpoint })))
      await sendWithoutNetwork(visitor, form.endpoint)
      expect(await ws.listStoredFields(form.key)).toEqual([])

      await page.fill('[name=email]', 'ada@example')
      await page.click('button')
      await page.locator('text=Enter a valid email address').waitFor()
      await page.fill('[name=email]', 'ada@example.com')
      await page.dblclick('button')
      await page.locator('[role=status]', { hasText: settings.successMessage }).waitFor()
      expect(await page.locator('button:enabled').count()).toBe(0)
      expect(await ws.listStoredFields(form.key)).toEqual([
        { name: '', email: 'ada@example.com', message: '' },
      ])
      expect(errors).toEqual([])
      await close()
    },
  )

  async function sendWithoutNetwork({ context, page }: SiteVisitor, endpoint: string) {
    await context.route(endpoint, (route) => route.abort())
    await page.fill('[name=email]', 'ada@example.com')
    await page.click('button')
    await page.locator(`text=${NOT_SENT}`).waitFor()
    expect(await page.inputValue('[name=email]')).toBe('ada@example.com')
    await until('the button can be pressed again', () => page.locator('button').isEnabled())
    await context.unroute(endpoint)
  }
})

/** Compiles the example as a project would, and puts it on a page. */
async function toReactPage(form: ExampleForm): Promise<string> {
  const entry = join(import.meta.dir, 'contact-form.jsx')
  const start = `import { createRoot } from 'react-dom/client'
createRoot(document.querySelector('main')).render(<ContactForm />)`
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    files: { [entry]: `${start}\n${reactExample(form)}` },
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: true,
  })
  const script = (await outputs[0]?.text())?.replaceAll('</script', '<\\/script')
  return `<main></main><script type="module">${script}</script>`
}
