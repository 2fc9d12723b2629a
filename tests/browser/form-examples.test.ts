// The forms of docs/forms.md work as they stand, on a customer's site in a real browser: plain, with the snippet under the
// page's Content-Security-Policy, with fetch, and in React.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { fetchExample, htmlExample, reactExample } from '../../dashboard/pages/forms/form-examples.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { type CustomerSite, onCustomerSite, type SiteWorkspace } from '../support/browser/customer-site.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { until } from '../support/until.ts'

const page = await readCodeBlocks('docs/forms.md')
const [plainForm = '', snippetTag = ''] = page
  .filter(({ heading, language }) => heading === 'Plain HTML' && language === 'html')
  .map(({ code }) => code)
const fetchForm = getCodeBlock(page, 'Without leaving the page', 'html')
const reactForm = getCodeBlock(page, 'React', 'jsx')
const policy = getCodeBlock(page, 'Content-Security-Policy of your site', 'csp').trim()

/** The form of the page's examples. */
const SHOWN = {
  endpoint: 'https://go.example/f/k7m2xw9qpd',
  requiredFields: ['email', 'message'],
  captcha: false,
  successMessage: null,
}

test('docs/forms.md has the examples of the dashboard', () => {
  const examples = [htmlExample(SHOWN), fetchExample(SHOWN), reactExample(SHOWN)]
  expect([plainForm, fetchForm, reactForm]).toEqual(examples.map((example) => `${example}\n`))
})

const SENT = { name: 'Ada', email: 'ada@example.com', message: 'Hello' }

onCustomerSite('the forms of docs/forms.md', (site) => {
  const create = async (fields: object = {}) => {
    const ws = await site().createWorkspace()
    return { ws, form: await ws.createForm({ requiredFields: ['email', 'message'], ...fields }) }
  }
  /** The example with the address of a real form. */
  const fit = (code: string, { endpoint }: { endpoint: string }) =>
    code.replaceAll('https://go.example/f/k7m2xw9qpd', endpoint)
  const fitPolicy = ({ server }: CustomerSite) => policy.replaceAll('https://go.example', server.origin)

  async function fillIn(on: Page) {
    for (const [name, value] of Object.entries(SENT)) await on.fill(`[name=${name}]`, value)
  }
  async function expectStored(ws: SiteWorkspace, key: string) {
    await until('the submission', async () => (await ws.listStoredFields(key)).length > 0)
    expect(await ws.listStoredFields(key)).toEqual([SENT])
  }

  test('plain HTML: sent, stored, and led to where _next says', async () => {
    const { ws, form } = await create()
    const next = getCodeBlock(page, 'Control fields', 'html')
    const visitor = await site().openVisitor()
    await visitor.page.goto(site().addPage(fit(plainForm, form).replace('<button>', `${next}<button>`)))
    await fillIn(visitor.page)
    await visitor.page.click('button')
    await visitor.page.waitForURL(`${site().origin}/thanks`)
    await expectStored(ws, form.key)
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test('plain HTML with the snippet, under the policy that the page names', async () => {
    const { ws, form } = await create({ successMessage: 'We call you.' })
    const tag = snippetTag.replace('https://go.example', site().server.origin).replace('ws_…', ws.publicId)
    // The policy allows no style in the page: a class of the site's own style sheet hides the honeypot.
    const html = tag + fit(plainForm, form).replace(/style="[^"]*"/, 'class="honeypot"')
    const visitor = await site().openVisitor()
    const url = site().addPage(html, { 'Content-Security-Policy': fitPolicy(site()) })
    await site().open(visitor, url)
    await fillIn(visitor.page)
    await visitor.page.click('button')
    await visitor.page.getByText('We call you.').waitFor()
    expect(visitor.page.url()).toBe(url)
    await expectStored(ws, form.key)
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  for (const [name, toHtml] of [
    ['with fetch', fetchForm],
    ['in React', reactForm],
  ] as const) {
    test(`${name}: sent and thanked on the page, and mistakes are shown`, async () => {
      const { ws, form } = await create()
      const code = fit(toHtml, form)
      const visitor = await site().openVisitor()
      await visitor.page.goto(site().addPage(name === 'in React' ? await mountReact(code) : code))
      await fillIn(visitor.page)
      // The browser takes this address, and the server does not.
      await visitor.page.fill('[name=email]', 'ada@example')
      await visitor.page.click('button')
      await visitor.page.getByText('Enter a valid email address').waitFor()
      await visitor.page.fill('[name=email]', SENT.email)
      await visitor.page.click('button')
      await visitor.page.getByText('Thank you!').waitFor()
      await expectStored(ws, form.key)
      expect(visitor.errors).toEqual([])
      await visitor.close()
    })
  }
})

/** A page with the component of the example. */
async function mountReact(code: string): Promise<string> {
  // In memory, at a place from where React can be found.
  const [main, component] = [join(ROOT, 'example-main.jsx'), join(ROOT, 'example-form.jsx')]
  const start = `import { createRoot } from 'react-dom/client'
    import { ContactForm } from './example-form.jsx'
    createRoot(document.querySelector('#app')).render(<ContactForm />)`
  const { outputs } = await Bun.build({
    entrypoints: [main],
    files: { [main]: start, [component]: code },
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: true,
  })
  const script = (await outputs[0]?.text()) ?? ''
  return `<div id="app"></div><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`
}
