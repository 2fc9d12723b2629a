// The forms of docs/forms.md work as they stand, on a customer's site in a real browser: plain, with the snippet under the
// page's Content-Security-Policy, with files, named later, in WordPress and with curl. form-pages.test.ts has those
// with fetch and React, tests/packages/frameworks.full.test.ts those of frameworks and of the npm packages.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type CustomerSite, onCustomerSite, type SiteWorkspace } from '../support/browser/customer-site.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { until } from '../support/until.ts'

const page = await readCodeBlocks('docs/forms.md')
const [plainForm = '', snippetTag = ''] = page
  .filter(({ heading, language }) => heading === 'Plain HTML' && language === 'html')
  .map(({ code }) => code)
const policy = getCodeBlock(page, 'Content-Security-Policy of your site', 'csp').trim()

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

  test('files: sent by the browser, and with the snippet', async () => {
    const { ws, form } = await create({
      requiredFields: [],
      uploads: {},
      redirectUrl: `${site().origin}/thanks`,
    })
    const html = fit(getCodeBlock(page, 'Files', 'html'), form)
    for (const tag of ['', ws.tag]) {
      const visitor = await site().openVisitor()
      const url = site().addPage(tag + html)
      if (tag) await site().open(visitor, url)
      else await visitor.page.goto(url)
      await visitor.page.fill('[name=email]', SENT.email)
      const cv = { name: 'cv.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%âãÏÓ\n') }
      await visitor.page.setInputFiles('[name=cv]', cv)
      await visitor.page.click('button')
      if (tag) await visitor.page.getByText('Thank').waitFor()
      else await visitor.page.waitForURL(`${site().origin}/thanks`)
      expect(visitor.errors).toEqual([])
      await visitor.close()
    }
    const stored = { email: SENT.email, cv: 'cv.pdf' }
    expect(await ws.listStoredFields(form.key)).toEqual([stored, stored])
  })

  test('a form that a script names: before the snippet has loaded, and after', async () => {
    const { ws, form } = await create({ requiredFields: [] })
    const name = getCodeBlock(page, 'Forms that come later', 'js')
    for (const early of [true, false]) {
      const visitor = await site().openVisitor()
      const described = visitor.page.waitForResponse(/\/forms\?keys=/)
      const add = `const box = document.createElement('main'); box.innerHTML = \`${fit(plainForm, form)}\`
        document.body.append(box); const form = box.querySelector('form'); ${name}`
      await visitor.page.goto(site().addPage(`${early ? `<script>{${add}}</script>` : ''}${ws.tag}`))
      if (!early) await visitor.page.evaluate(`{${add}}`)
      await (await described).finished()
      await fillIn(visitor.page)
      await visitor.page.click('button')
      await visitor.page.getByText('Thank').waitFor()
      expect(visitor.errors).toEqual([])
      await visitor.close()
    }
    expect(await ws.listStoredFields(form.key)).toEqual([SENT, SENT])
  })

  test('WordPress: what the block and the plugin write into a page', async () => {
    const { ws, form } = await create()
    const plugin = getCodeBlock(page, 'wp-content/plugins/towpath/towpath.php', 'php')
    const written = /echo '(.*)';/.exec(plugin)?.[1] ?? ''
    expect(written).toBe(snippetTag.trim())
    const visitor = await site().openVisitor()
    await site().open(visitor, site().addPage(ws.tag + fit(getCodeBlock(page, 'WordPress', 'html'), form)))
    await visitor.page.fill('[name=email]', SENT.email)
    await visitor.page.fill('[name=message]', SENT.message)
    await visitor.page.click('button')
    await visitor.page.getByText('Thank').waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: SENT.email, message: SENT.message }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test.if(Bun.which('curl') !== null)('curl', async () => {
    const { ws, form } = await create({ uploads: {} })
    const dir = mkdtempSync(join(tmpdir(), 'towpath-curl-'))
    await Bun.write(join(dir, 'cv.pdf'), '%PDF-1.4\n')
    const script = fit(getCodeBlock(page, 'curl', 'sh'), form)
    const run = Bun.spawn(['sh', '-c', script], { cwd: dir, stdout: 'pipe', stderr: 'ignore' })
    expect(await new Response(run.stdout).json()).toEqual({ ok: true })
    rmSync(dir, { recursive: true })
    const { email, message } = SENT
    expect(await ws.listStoredFields(form.key)).toEqual([{ email, message, cv: 'cv.pdf' }])
  })
})
