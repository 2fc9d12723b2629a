// The code examples of a form: valid for the page check, and safe against quotes and markup in names and messages.

import { expect, test } from 'bun:test'
import { fetchExample, htmlExample, reactExample } from '../../dashboard/pages/forms/form-examples.ts'
import { FORM_TEMPLATES } from '../../dashboard/pages/forms/gallery/templates.ts'
import { writeTemplate } from '../../dashboard/pages/forms/gallery/write-template.ts'
import { highlightCode } from '../../dashboard/ui/copy/highlight-code.ts'
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

const SNIPPET = `<script defer src="${ORIGIN}/t.js" data-workspace="ws_1"></script>`

const writers: [string, string, () => string][] = [
  ['the HTML example', SNIPPET, () => htmlExample(form)],
  ...FORM_TEMPLATES.map((template): [string, string, () => string] => [
    `the ${template.id} form of the gallery`,
    '',
    () => writeTemplate(template, form, { snippet: SNIPPET }),
  ]),
]

test.each(writers)(
  'the page check finds no error and no fault of the honeypot in %s',
  async (_, head, write) => {
    const html = `<!doctype html><html><head>${head}</head><body>${write()}</body></html>`
    const options = { form, publicId: 'ws_1', origin: ORIGIN, turnstile: false }
    const pageUrl = 'https://example.com/contact'
    const { findings } = await checkPage({ ...options, html, pageUrl })
    expect(
      findings.filter(({ code, severity }) => severity === 'error' || code.startsWith('honeypot')),
    ).toEqual([])
  },
)

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

const [contact, newsletter, booking] = FORM_TEMPLATES.map(
  (template) =>
    (fields: object = {}, style = {}) =>
      writeTemplate(template, { ...form, requiredFields: [], captcha: false, ...fields }, style),
) as [WriteForm, WriteForm, WriteForm]
type WriteForm = (fields?: object, style?: { color?: string; snippet?: string }) => string

const DATES = { date: { pattern: '[0-9]{2}\\.[0-9]{2}\\.[0-9]{4}' } }
const galleryCases: [string, string, string[], string[]][] = [
  [
    'no settings',
    contact(),
    ['<span>Name</span> <input name="name" autocomplete="name">', '--accent: #17624a;'],
    ['optional', 'required', 'class="check"', '<script'],
  ],
  [
    'required fields',
    contact({ requiredFields: ['email', 'topic'] }),
    [
      'autocomplete="email" required>',
      '<span>Topic</span> <input name="topic" required>',
      'Message <small>(optional)</small>',
    ],
    [],
  ],
  ['one field', newsletter(), ['<div class="inline">', 'type="email" name="email"'], ['name="message"']],
  ['a color', newsletter({}, { color: '#7a1f5c' }), ['--accent: #7a1f5c;'], ['#17624a']],
  ['a captcha', newsletter({ captcha: true }, { snippet: SNIPPET }), [SNIPPET], []],
  [
    'a consent',
    newsletter({ consent: { field: 'ok', text: 'I <agree>' }, requiredFields: ['ok'] }),
    ['<input type="checkbox" name="ok" value="yes" required> <span>I &lt;agree&gt;</span>'],
    ['class="inline"'],
  ],
  [
    'a required file',
    contact({
      uploads: { maxFiles: 1, maxBytes: 5 * 1024 * 1024, accept: ['.pdf'] },
      requiredFields: ['file'],
    }),
    [
      'enctype="multipart/form-data"',
      '<span>File</span> <input type="file" name="file" accept=".pdf" required> <small>Up to 5 MB</small>',
    ],
    ['<input name="file"'],
  ],
  [
    'no rules of a date',
    booking(),
    ['<input type="date" name="date">', '<input type="time" name="time">'],
    [],
  ],
  [
    'a rule that no date input fits',
    booking({ rules: DATES }),
    ['<input name="date" pattern="'],
    ['type="date"'],
  ],
  [
    'choices',
    booking({ rules: { guests: { oneOf: ['1', '2'] } } }),
    ['<select name="guests"><option value="">Choose</option><option>1</option>'],
    [],
  ],
  [
    'decimals and several addresses',
    contact({ rules: { email: { type: 'email', multiple: true }, price: { type: 'number', maxLength: 4 } } }),
    ['autocomplete="email" multiple>', '<input type="number" name="price" step="any">'],
    ['maxlength'],
  ],
  [
    'labels of the form',
    contact({ fieldLabels: { message: 'Your <question>' } }),
    ['<span>Your &lt;question&gt;</span> <textarea name="message">', '<span>Name</span>'],
    [],
  ],
  [
    'a language',
    contact({ messages: { de: { required: 'Bitte' } } }),
    ['<input type="hidden" name="_lang" value="de">'],
    [],
  ],
]
test.each(galleryCases)('a form of the gallery follows the settings: %s', (_, html, parts, absent) => {
  expect(parts.filter((part) => !html.includes(part))).toEqual([])
  expect(absent.filter((part) => html.includes(part))).toEqual([])
})

test('colors change no character of the code', () => {
  const codes = [
    htmlExample(form),
    fetchExample(form),
    contact({}, { snippet: SNIPPET }),
    '<a href="x" b>1 < 2',
    '<!-- <p> -->',
  ]
  for (const code of codes)
    expect(
      highlightCode(code, 'html')
        .map(({ text }) => text)
        .join(''),
    ).toBe(code)
  expect(
    highlightCode(reactExample(form), 'js')
      .map(({ text }) => text)
      .join(''),
  ).toBe(reactExample(form))
  const kinds = highlightCode(
    '<style>a:hover { color: red; }</style><p class="x">a="b"</p><!-- c -->',
    'html',
  )
  expect(
    kinds.filter(({ kind }) => kind !== 'tag' && kind).map(({ text, kind }) => `${kind} ${text}`),
  ).toEqual(['name color', 'name class', 'string "x"', 'comment <!-- c -->'])
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
