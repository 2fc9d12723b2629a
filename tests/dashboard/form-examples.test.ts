// The code examples of a form: valid for the page check, and safe against quotes and markup in names and messages.

import { expect, test } from 'bun:test'
import { fetchExample, htmlExample, reactExample } from '../../dashboard/pages/forms/form-examples.ts'
import { checkPage } from '../../server/features/forms/page-check/check-page.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'

const ORIGIN = 'https://go.example'
const form = {
  formKey: 'k7m2xw9qpd',
  endpoint: `${ORIGIN}/f/k7m2xw9qpd`,
  requiredFields: ['email', 'company "x" <b>'],
  captcha: true,
  enabled: true,
  successMessage: '</script> "Thanks"',
  redirectUrl: null,
  pageUrl: null,
  afterSubmit: 'hosted' as const,
  onError: 'hosted' as const,
  allowedOrigins: [],
  nextHosts: [],
  rules: {},
  uploads: null,
}

test('the page check finds no error and no fault of the honeypot in a page with the HTML example and the snippet', async () => {
  const head = `<script defer src="${ORIGIN}/t.js" data-workspace="ws_1"></script>`
  const html = `<!doctype html><html><head>${head}</head><body>${htmlExample(form)}</body></html>`
  const options = { form, publicId: 'ws_1', origin: ORIGIN, turnstile: false }
  const pageUrl = 'https://example.com/contact'
  const { findings } = await checkPage({ ...options, html, pageUrl })
  expect(
    findings.filter(({ code, severity }) => severity === 'error' || code.startsWith('honeypot')),
  ).toEqual([])
})

test('field names and messages are escaped', () => {
  expect(htmlExample(form)).toContain('name="company &quot;x&quot; &lt;b&gt;" required')
  expect(fetchExample(form).match(/<\/script>/g)).toHaveLength(1)
  expect(() => new Bun.Transpiler({ loader: 'jsx' }).transformSync(reactExample(form))).not.toThrow()
})

test('what the settings ask for is in the example: rules, files, consent and the language of messages', async () => {
  const full = {
    ...form,
    requiredFields: ['plan', 'newsletter'],
    rules: {
      plan: { oneOf: ['Free', 'A "big" <one>'] },
      phone: { type: 'tel' as const, minLength: 5, maxLength: 20, pattern: '\\+[0-9 ]{4,}' },
      code: { pattern: '(?P<letters>[A-Z]+)' },
    },
    uploads: { maxFiles: 2, maxBytes: 1_000_000, accept: ['image/*', '.pdf'] },
    consent: { field: 'newsletter', text: 'I <b>agree</b>' },
    messages: { de: { required: 'Bitte ausfüllen' } },
  }
  const html = htmlExample(full)
  for (const part of [
    ' method="post" enctype="multipart/form-data">',
    '<select name="plan" required><option value="">Choose</option><option>Free</option><option>A &quot;big&quot; &lt;one&gt;</option></select>',
    '<input type="tel" name="phone" minlength="5" maxlength="20" pattern="\\+[0-9 ]&#123;4,&#125;">',
    // Browsers cannot read this pattern: the server alone checks it.
    '<input name="code">',
    '<input type="file" name="file" accept="image/*,.pdf" multiple>',
    '<input type="checkbox" name="newsletter" value="yes" required> I &lt;b&gt;agree&lt;/b&gt;',
    '<input type="hidden" name="_lang" value="de">',
  ])
    expect(html).toContain(part)
  expect(html.match(/name="newsletter"/g)).toHaveLength(1)
  const single = htmlExample({ ...full, uploads: { ...full.uploads, maxFiles: 1 } })
  expect(single).toContain('<label>File <input type="file" name="file" accept="image/*,.pdf"></label>')
  const jsx = reactExample(full)
  expect(jsx).toContain('minLength="5" maxLength="20"')
  expect(() => new Bun.Transpiler({ loader: 'jsx' }).transformSync(jsx)).not.toThrow()
})

test('docs/forms.md has the examples of the dashboard', async () => {
  const page = await readCodeBlocks('docs/forms.md')
  const shown = {
    endpoint: 'https://go.example/f/k7m2xw9qpd',
    requiredFields: ['email', 'message'],
    captcha: false,
    successMessage: null,
  }
  const plainForm = page.find(({ heading, language }) => heading === 'Plain HTML' && language === 'html')
  expect(plainForm?.code).toBe(`${htmlExample(shown)}\n`)
  expect(getCodeBlock(page, 'Without leaving the page', 'html')).toBe(`${fetchExample(shown)}\n`)
  expect(getCodeBlock(page, 'React without the package', 'jsx')).toBe(`${reactExample(shown)}\n`)
})
