import { describe, expect, test } from 'bun:test'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import type { FieldRules } from '../rules/schema.ts'
import { checkPage, type PageCheckInput } from './check-page.ts'
import type { Finding } from './finding.ts'
import type { CheckedForm } from './parse-page.ts'

const KEY = 'k7m2xw9qpd'
const ORIGIN = 'https://go.example'
const HERE = `${ORIGIN}/f/${KEY}`
const PAGE = 'https://site.test/contact/page?x=1'

const FORM: CheckedForm = {
  formKey: KEY,
  enabled: true,
  requiredFields: ['email'],
  redirectUrl: null,
  pageUrl: null,
  afterSubmit: 'referer',
  onError: 'referer',
  captcha: false,
  allowedOrigins: [],
  nextHosts: [],
  rules: {},
  uploads: null,
}

const TRAP =
  '<div style="position:absolute;left:-9999px" aria-hidden="true"><input name="_gotcha" tabindex="-1" autocomplete="off"></div>'
const EMAIL = '<input type=email name=email>'
const SEND = '<button>Send</button>'
const SNIPPET = `<script defer src="${ORIGIN}/t.js" data-workspace="w"></script>`
const PLAIN = '<meta charset=utf-8>'
const HEAD = `<meta charset=utf-8><meta name=referrer content=no-referrer-when-downgrade>${SNIPPET}`

interface Parts {
  head?: string
  /** Attributes of the form. */
  form?: string
  inside?: string
  /** Replaces the whole body. */
  body?: string
}
const pageOf = ({
  head = HEAD,
  form = `action="${HERE}" method="post"`,
  inside = TRAP + EMAIL + SEND,
  body,
}: Parts) =>
  `<!doctype html><html><head>${head}</head><body>${body ?? `<form ${form}>${inside}</form>`}</body></html>`

type Asked = Parts &
  Partial<Omit<PageCheckInput, 'form' | 'headers'>> & {
    is?: Partial<CheckedForm>
    sent?: Record<string, string>
  }

const check = async ({ is, sent, ...more }: Asked) => {
  const { findings } = await checkPage({
    origin: ORIGIN,
    publicId: 'ws_1',
    turnstile: false,
    pageUrl: PAGE,
    html: pageOf(more),
    headers: new Headers(sent ?? { 'content-type': 'text/html; charset=utf-8' }),
    ...more,
    form: { ...FORM, ...is },
  } as PageCheckInput)
  return findings
}

const codes = (findings: Finding[]) => findings.map(({ code, severity }) => `${severity} ${code}`)

test('a page without mistakes has no findings', async () => {
  expect(await check({})).toEqual([])
  expect(await check({ is: { captcha: true } })).toEqual([])
  expect(await check({ pageUrl: null, headers: undefined } as never)).toEqual([])
})

/** Each row has the mistake of the page, and all its findings: those of its own, and those of all rows. */
function table(name: string, rows: [string, Asked, string][], ofAll: string[] = []) {
  describe(name, () => {
    test.each(rows)('%s', async (_, asked, expected) => {
      const found = await check(asked)
      expect(codes(found).join(', ')).toBe([...(expected ? [expected] : []), ...ofAll].join(', '))
      for (const { message, fix } of found) {
        expect(message).toMatch(/\w.*[.!?]$/)
        expect(fix).toMatch(/^[A-Z].{8}/)
      }
    })
  })
}

/** A form with the usual fields, and this at its end. */
const ending = (html: string): Asked => ({ inside: TRAP + EMAIL + html })
const action = (text: string): Asked => ({ form: `action="${text}" method=post` })

table('the address of the form', [
  ['as browsers mend it', action(`\n  HTTPS://Go.Example:443/f/${KEY} `), ''],
  ['with slashes around the key', action(`${HERE}/`), ''],
  ['with a query of its own', action(`${HERE}?from=page`), ''],
  ['without the scheme of the page', action(`//go.example/f/${KEY}`), ''],
  [
    'by way of the base address',
    { head: `${HEAD}<base href="${ORIGIN}/f/">`, form: `action=${KEY} method=post` },
    '',
  ],
  ['of nobody', { body: '<p>Hello</p>' }, 'error form_missing'],
  ['of another site', action('https://other.test/send'), 'error form_missing'],
  ['absent', { form: 'method=post' }, 'error form_missing'],
  ['in a comment', { body: `<!-- <form action="${HERE}"> -->` }, 'error form_missing'],
  ['only in a script', { body: `<script>x='<form action="${HERE}">'</script>` }, 'error form_missing'],
  ['with another key', action(`${ORIGIN}/f/abcdefghjk`), 'error action_other_key'],
  ['without a key', action(`${ORIGIN}/f/`), 'error action_other_key'],
  ['with the key in capitals', action(HERE.toUpperCase()), 'error action_path'],
  ['over http', action(HERE.replace('https', 'http')), 'error action_scheme'],
  [
    'over https where there is none',
    { ...action(HERE), origin: 'http://go.example', head: PLAIN },
    'error action_scheme_https, warning referrer_hidden, info snippet_missing',
  ],
  ['with another path', action(`${ORIGIN}/forms/${KEY}`), 'error action_path'],
  ['that goes on after the key', action(`${HERE}/submit`), 'error action_trailing'],
  ['that goes on in the key', action(`${HERE}x`), 'error action_trailing'],
  ['with another port', action(`https://go.example:8443/f/${KEY}`), 'error action_host'],
  ['without a host', action(`/f/${KEY}`), 'error action_relative'],
  ['without a scheme', action(`go.example/f/${KEY}`), 'error action_relative'],
  ['on the own site', action(`https://site.test/f/${KEY}`), 'error action_host'],
])

table('the way it is sent', [
  ['method post in capitals', { form: `action=${HERE} method=POST` }, ''],
  ['without a method', { form: `action=${HERE}` }, 'error method_not_post'],
  ['with get', { form: `action=${HERE} method=get` }, 'error method_not_post'],
  ['as plain text', { form: `action=${HERE} method=post enctype=text/plain` }, 'error enctype_text_plain'],
  ['as multipart', { form: `action=${HERE} method=post enctype=multipart/form-data` }, ''],
  ['into a new window', { form: `action=${HERE} method=post target=_blank` }, 'warning target'],
  ['into the same window', { form: `action=${HERE} method=post target=_self` }, ''],
  ['with a button that leads elsewhere', ending(`<button formaction="/x">Send</button>`), 'error formaction'],
  [
    'with a button that leads here',
    { form: 'action=/x method=post', inside: `${TRAP}${EMAIL}<button formaction="${HERE}">Send</button>` },
    '',
  ],
  ['with a button that says get', ending(`<button formmethod=get>Send</button>`), 'error method_not_post'],
  [
    'with a button that says plain text',
    ending(`<input type=submit formenctype=text/plain>`),
    'error enctype_text_plain',
  ],
  ['with a button that opens a window', ending(`<input type=image formtarget=_blank>`), 'warning target'],
  ['without a button', { inside: TRAP + EMAIL }, 'warning submit_missing'],
  ['with a button that does nothing', ending(`<button type=button>Send</button>`), 'warning submit_missing'],
  ['with a disabled button', ending(`<button disabled>Send</button>`), 'warning submit_disabled'],
  [
    'with a button from outside',
    { body: `<form id=f action=${HERE} method=post>${TRAP}${EMAIL}</form><button form=f>Send</button>` },
    '',
  ],
])

const UPLOADS = { maxFiles: 1, maxBytes: 1000, accept: [] }
const NEXT = '<input type=hidden name=_next value='
const field = (html: string): Asked => ({ inside: TRAP + html + SEND })
const also = (html: string) => field(EMAIL + html)

table('its fields', [
  ['required, and missing', field('<input name=name>'), 'error required_field_missing'],
  [
    'required, and in capitals',
    field('<input name=Email>'),
    'error required_field_missing, warning email_name',
  ],
  ['required, and disabled', field('<input name=email disabled>'), 'error required_field_disabled'],
  [
    'required, and disabled with its group',
    field(`<fieldset disabled>${EMAIL}</fieldset>`),
    'error required_field_disabled',
  ],
  [
    'required, and a choice',
    { ...field('<select name=plan></select>'), is: { requiredFields: ['plan'] } },
    '',
  ],
  ['without a name', also(`<input><textarea id=message></textarea>`), 'warning field_without_name'],
  [
    'all without names',
    { inside: `${TRAP}<input type=email><textarea></textarea>${SEND}`, is: { requiredFields: [] } },
    'error field_without_name',
  ],
  [
    "BootstrapMade's script",
    { head: `${HEAD}<script src="assets/vendor/php-email-form/validate.js"></script>` },
    'warning script_expects_text',
  ],
  [
    "BootstrapMade's form",
    { form: `action="${HERE}" method="post" class="a php-email-form"` },
    'warning script_expects_text',
  ],
  [
    "Formspree's script",
    { head: `${HEAD}<script src="https://unpkg.com/@formspree/ajax@1" defer></script>` },
    'warning script_expects_formspree',
  ],
  [
    'sent with cookies',
    also(`<script>fetch(u, { method: 'POST', credentials: 'include' })</script>`),
    'warning credentials_included',
  ],
  ['with an empty name', also(`<input name="">`), 'warning field_without_name'],
  ['never stored', also(`<input name=_phone>`), 'warning name_never_stored'],
  [
    'control fields',
    also(
      `<input type=hidden name=_next value="/thanks"><input type=hidden name=_charset_><input type=hidden name=_lang value=de>`,
    ),
    '',
  ],
  ['an event id by hand', also(`<input type=hidden name=_service_eid value=1>`), 'warning event_id_by_hand'],
  [
    'a captcha token field of its own',
    also(`<input type=hidden name=cf-turnstile-response>`),
    'warning captcha_by_hand',
  ],
  ['a _next with a javascript: URL', also(`${NEXT}javascript:alert(1)>`), 'warning next_ignored'],
  [
    'a _next to a host that the form does not name',
    { ...also(`${NEXT}https://other.test/>`), is: { nextHosts: ['site.test'] } },
    'warning next_host',
  ],
  [
    'a _next to a host that the form names',
    { ...also(`${NEXT}https://Other.test/x>`), is: { nextHosts: ['other.test'] } },
    '',
  ],
  ['a file', also(`<input type=file name=cv>`), 'error file_field'],
  [
    'a file where the form takes files, without the enctype for it',
    { ...also(`<input type=file name=cv>`), is: { uploads: UPLOADS } },
    'error file_enctype',
  ],
  [
    'a file where the form takes files',
    {
      ...also(`<input type=file name=cv>`),
      form: `action="${HERE}" method="post" enctype="Multipart/Form-Data"`,
      is: { uploads: UPLOADS },
    },
    '',
  ],
  ['two email addresses', field(EMAIL + EMAIL), 'error email_twice'],
  [
    'an email address by another name',
    { ...field('<input type=email name=mail>'), is: { requiredFields: [] } },
    'warning email_name',
  ],
  [
    'an email address by no known name',
    { ...field('<input name=E-Mail>'), is: { requiredFields: [] } },
    'warning email_name',
  ],
  ['the same id twice', field('<input id=a name=email><input id=a name=b>'), ''],
])

const ruled = (html: string, rule: FieldRules[string]): Asked => ({
  ...also(`${html}`),
  is: { rules: { f: rule } },
})

table('a field with rules', [
  ['and its own type', ruled('<input type=date name=f>', { type: 'date' }), ''],
  ['and no type', ruled('<input name=f>', { type: 'date' }), 'warning rule_type'],
  ['and another type', ruled('<input type=number name=f>', { type: 'tel' }), 'warning rule_type'],
  ['that nobody types in', ruled('<input type=hidden name=f><select name=f></select>', { type: 'url' }), ''],
  ['and the same length', ruled('<input name=f maxlength=9>', { maxLength: 9, minLength: 9 }), ''],
  ['and a greater length', ruled('<input name=f maxlength=10>', { maxLength: 9 }), 'warning rule_length'],
  ['that is too short for them', ruled('<input name=f maxlength=3>', { minLength: 4 }), 'error rule_length'],
  ['and the same pattern', ruled('<input name=f pattern="\\d+">', { pattern: '\\d+' }), ''],
  ['and another pattern', ruled('<input name=f pattern=".+">', { pattern: '\\d+' }), 'warning rule_pattern'],
  [
    'and its choices',
    ruled('<input type=radio name=f value=a><input type=checkbox name=f>', { oneOf: ['a', 'on'] }),
    '',
  ],
  ['and another choice', ruled('<input type=radio name=f value=b>', { oneOf: ['a'] }), 'error rule_choice'],
  ['and no control', ruled('<input name=constructor>', { type: 'url' }), ''],
])

const trap = (html: string): Asked => ({ inside: html + EMAIL + SEND })

table('its honeypot', [
  ['missing', trap(''), 'warning honeypot_missing'],
  ['hidden', trap('<input type=hidden name=_gotcha>'), ''],
  ['hidden by a class', trap('<p class=trap><input name=_gotcha autocomplete=off></p>'), ''],
  ['hidden by a style', trap('<input name=_gotcha autocomplete=off style="display: none !important">'), ''],
  ['visible', trap('<p><input name=_gotcha autocomplete=off></p>'), 'warning honeypot_visible'],
  [
    'visible after something hidden',
    trap('<p hidden>x</p><input name=_gotcha autocomplete=off>'),
    'warning honeypot_visible',
  ],
  ['open to the password manager', trap('<input name=_gotcha hidden>'), 'warning honeypot_autofill'],
  ['filled in', trap('<input type=hidden name=_gotcha value=x>'), 'error honeypot_filled'],
  ['a ticked box', trap('<input type=checkbox name=_gotcha hidden checked>'), 'error honeypot_filled'],
  ['a box', trap('<input type=checkbox name=_gotcha hidden value=1>'), ''],
  ['required', trap('<input name=_gotcha hidden autocomplete=off required>'), 'error honeypot_required'],
])

/** The page as its server sends it. */
const typed = (charset: string, more: Asked = {}): Asked => ({
  ...more,
  sent: { 'content-type': `text/html${charset && `; charset=${charset}`}` },
})

const REFERRER = '<meta charset=utf-8><meta name=referrer content=no-referrer-when-downgrade>'
const captcha = { captcha: true }
const withScript = (src: string, type = ''): Asked => ({
  head: `${REFERRER}<script ${type} src="${src}"></script>`,
  is: captcha,
})

table('the snippet', [
  ['absent', { head: REFERRER }, 'warning errors_unseen, info snippet_missing'],
  ['absent, with captcha', { head: REFERRER, is: captcha }, 'error snippet_missing'],
  ['of another site', withScript('https://other.test/t.js'), 'error snippet_missing'],
  ['of its own site', withScript('/t.js'), 'error snippet_missing'],
  ['with a version', withScript('//go.example/t.js?v=2'), ''],
  ['that waits for consent', withScript(`${ORIGIN}/t.js`, 'type=text/plain'), 'error snippet_parked'],
  ['over http', withScript('http://go.example/t.js'), 'error snippet_insecure'],
  [
    'beside a captcha of the page',
    {
      body: `<form action=${HERE} method=post>${TRAP}${EMAIL}<div class="x cf-turnstile"></div>${SEND}</form>`,
      is: captcha,
    },
    'warning captcha_own_box',
  ],
])

/** Unless it is about styles, the policy allows the one that hides the honeypot. */
const csp = (policy: string, more: Asked = {}): Asked => ({
  ...more,
  sent: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.includes('style-src') ? policy : `${policy}; ${STYLES}`,
  },
})
const STYLES = "style-src-attr 'unsafe-inline'"
const ALL = `script-src ${ORIGIN}; connect-src ${ORIGIN}; form-action ${ORIGIN} 'self'`

table('the content security policy', [
  ['that names us', csp(`default-src 'none'; ${ALL}`, { is: captcha }), ''],
  ['without form-action', csp(`default-src https:`), ''],
  ['with form-action self', csp(`form-action 'self'`), 'error csp_form_action'],
  [
    'in a meta element, escaped',
    { head: `${HEAD}<meta http-equiv="Content-Security-Policy" content="form-action &#39;self&#39;">` },
    'error csp_form_action',
  ],
  ['of two, one forbids', csp(`form-action *, form-action 'none'`), 'error csp_form_action'],
  [
    'that only reports',
    {
      sent: {
        'content-type': 'text/html;charset=utf-8',
        'content-security-policy-report-only': "form-action 'none'",
      },
    },
    '',
  ],
  ['that stops the way back', csp(`form-action ${ORIGIN}`), 'warning csp_form_action_redirect'],
  [
    'that stops the way on',
    csp(`form-action ${ORIGIN} 'self'`, { is: { redirectUrl: 'https://thanks.test/' } }),
    'warning csp_form_action_redirect',
  ],
  ['without scripts of ours', csp("script-src 'self'"), 'warning csp_script_src'],
  [
    'without scripts of ours, with captcha',
    csp("default-src 'self'", { is: captcha }),
    'error csp_script_src, error csp_connect_src',
  ],
  ['with a nonce', csp("script-src 'nonce-n'", { head: HEAD.replace('defer', 'nonce=n') }), ''],
  ['that shows the honeypot', csp(`style-src 'self'`), 'warning honeypot_style_blocked'],
  [
    'with a nonce, which shows the honeypot',
    csp(`style-src 'unsafe-inline' 'nonce-a'`),
    'warning honeypot_style_blocked',
  ],
  ['that allows styles in attributes', csp(`style-src 'self'; style-src-attr 'unsafe-inline'`), ''],
  ['without calls to us', csp("connect-src 'self'"), 'warning csp_connect_src'],
  [
    'that does not matter without the snippet',
    csp("default-src 'self'", { head: REFERRER, is: { onError: 'hosted' } }),
    'info snippet_missing',
  ],
  [
    'that does not know Turnstile',
    csp(`default-src 'none'; ${ALL}`, { is: captcha, turnstile: true }),
    'error csp_turnstile_script, error csp_turnstile_frame',
  ],
  ['that locks the page in', csp('sandbox allow-scripts'), 'error csp_sandbox'],
  ['that lets forms out', csp('sandbox allow-forms'), ''],
  [
    'that upgrades',
    {
      ...csp('upgrade-insecure-requests', {
        form: `action=http://go.example/f/${KEY} method=post`,
        origin: 'http://go.example',
        head: HEAD.replace('https', 'http'),
        pageUrl: 'http://site.test/contact',
      }),
    },
    'error csp_upgrade',
  ],
])

const referrer = (value: string, more: Asked = {}): Asked => ({
  head: `<meta charset=utf-8><meta name=referrer content="${value}">`,
  ...more,
})

const OURS = { afterSubmit: 'hosted', onError: 'hosted' } as const
const where = (is: Partial<CheckedForm>, more: Asked = {}): Asked => ({ head: PLAIN, is, ...more })
const THANKS = 'https://site.test/thanks'
const policy = (text: string): Asked => ({ sent: { 'content-type': 'text/html', 'referrer-policy': text } })

table(
  'the referrer policy',
  [
    ["the browser's own", { head: PLAIN }, 'warning referrer_origin_only'],
    ["the browser's own, with a redirect", where({ redirectUrl: THANKS }), 'warning referrer_origin_only'],
    [
      "the browser's own, with _next",
      { head: PLAIN, inside: `${TRAP}${EMAIL}${SEND}${NEXT}${THANKS}>` },
      'warning referrer_origin_only',
    ],
    [
      "the browser's own, on the start page",
      { head: PLAIN, pageUrl: 'https://site.test/' },
      'warning errors_unseen',
    ],
    ['no-referrer', referrer('no-referrer'), 'warning referrer_hidden'],
    [
      'no-referrer, with allowed origins',
      referrer('no-referrer', { is: { allowedOrigins: ['https://site.test'] } }),
      'error referrer_hidden',
    ],
    ['same-origin', referrer('same-origin'), 'warning referrer_hidden'],
    ['origin', referrer('origin'), 'warning referrer_origin_only'],
    ['unsafe-url', referrer('unsafe-url'), 'warning errors_unseen'],
    ['an old word', referrer('never'), 'warning referrer_hidden'],
    ['a word that nobody knows', referrer('full'), 'warning referrer_origin_only'],
    ['in the header', { ...policy('no-referrer, x'), head: PLAIN }, 'warning referrer_hidden'],
  ],
  ['info snippet_missing'],
)

table('the referrer policy beside the snippet', [
  ["the browser's own", { head: `${PLAIN}${SNIPPET}` }, 'info referrer_origin_only'],
  ['in the header, replaced by the page', policy('no-referrer'), ''],
  [
    'of the form',
    { form: `action=${HERE} method=post rel="noopener noreferrer"` },
    'warning referrer_hidden',
  ],
])

table(
  'where senders land',
  [
    ['pages of ours', where(OURS), 'info referrer_origin_only'],
    ['the page of the form', where({ pageUrl: PAGE }), 'warning errors_unseen, info referrer_origin_only'],
    [
      'the page of the form, where mistakes are shown by us',
      where({ pageUrl: PAGE, onError: 'hosted' }),
      'info referrer_origin_only',
    ],
    [
      'our thanks, and the home page after a mistake',
      where({ afterSubmit: 'hosted' }),
      'warning referrer_origin_only',
    ],
    [
      'the home page, because the page is on another site',
      where({ pageUrl: 'https://www.site.test/contact' }),
      'warning referrer_origin_only',
    ],
    [
      'another page of the form',
      where({ ...OURS, pageUrl: 'https://site.test/other' }),
      'info referrer_origin_only, info page_url_differs',
    ],
    [
      'our thanks from a page that hides itself',
      { ...referrer('no-referrer'), is: OURS },
      'warning referrer_hidden',
    ],
  ],
  ['info snippet_missing'],
)

table('where senders land under a policy', [
  ['our thanks, although it stops the way to the page', csp(`form-action ${ORIGIN}`, { is: OURS }), ''],
  [
    'a page that it stops after mistakes',
    csp(`form-action ${ORIGIN}`, { is: { afterSubmit: 'hosted' } }),
    'warning csp_form_action_redirect',
  ],
])

test('a finding about the way back says where senders land, and which settings help', async () => {
  const find = async (asked: Asked, code = 'referrer_origin_only') =>
    (await check(asked)).find((finding) => finding.code === code)
  const both = await find(where({}))
  expect(both?.message).toContain(
    'It tells us only the site, not the page: senders land on the home page after sending and after a mistake, without a message',
  )
  expect(both?.fix).toStartWith(`Set pageUrl to ${PAGE}, or set afterSubmit and onError to hosted, or add`)
  const mistakes = await find(where({ afterSubmit: 'hosted' }))
  expect(mistakes?.message).toContain('senders land on the home page after a mistake')
  expect(mistakes?.fix).toContain('or set onError to hosted')
  expect((await find(where(OURS)))?.message).not.toContain('senders land')
  expect((await find(where({ pageUrl: 'https://www.site.test/' })))?.message).toContain(
    'pageUrl is on another site',
  )
  const [http, https] = [ORIGIN.replace('https', 'http'), 'https://site.test/contact']
  const form = `action="${http}/f/${KEY}" method="post"`
  const downgrade = await find({ head: PLAIN, form, origin: http, pageUrl: https }, 'referrer_hidden')
  expect(downgrade?.message).toStartWith(
    'Browsers do not tell an http address which https page sends to it: ',
  )
  expect(downgrade?.fix).toBe('Set afterSubmit to hosted, or serve this server over https.')
  const hidden = await find(referrer('no-referrer'), 'referrer_hidden')
  expect(hidden?.message).toContain('the thanks page does not lead back')
  expect((await find({ ...referrer('no-referrer'), is: OURS }, 'referrer_hidden'))?.message).not.toContain(
    'thanks',
  )
})

const sentAs = (charset: string): Asked => ({ form: `action=${HERE} method=post accept-charset=${charset}` })

table('the rest', [
  ['a form that is turned off', { is: { enabled: false } }, 'error form_disabled'],
  [
    'an origin that is not allowed',
    { is: { allowedOrigins: ['https://other.test'] } },
    'error origin_not_allowed',
  ],
  ['an origin that is allowed', { is: { allowedOrigins: ['https://*.test'] } }, ''],
  ['another encoding', typed('iso-8859-1'), 'warning charset'],
  ['another encoding, and a form that says so', typed('iso-8859-1', sentAs('UTF-8')), ''],
  [
    'another encoding, and a form that tells it',
    typed('shift_jis', also('<input type=hidden name=_charset_>')),
    '',
  ],
  ['a page in UTF-16, whose forms send UTF-8', typed('utf-16le'), ''],
  ['UTF-8 under another label', typed('unicode-1-1-utf-8'), ''],
  [
    'a form with another encoding than its page',
    sentAs('"x-unknown, windows-1251 utf-8"'),
    'warning charset',
  ],
  ['a form that says nothing with its encoding', sentAs('unknown'), ''],
  ['no encoding', typed('', { head: HEAD.replace('<meta charset=utf-8>', '') }), 'warning charset'],
])

describe('a finding', () => {
  test('has the line to paste, with this form’s names', async () => {
    const [first] = await check({ head: REFERRER, is: captcha })
    expect(first?.fix).toContain(`<script defer src="${ORIGIN}/t.js" data-workspace="ws_1"></script>`)
    const [missing] = await check({ body: '' })
    expect(missing?.fix).toContain(`<form action="${HERE}" method="post">`)
    const [field] = await check(field_('a"b&c'))
    expect(field?.fix).toContain('<input name="a&quot;b&amp;c" required>')
  })

  test('on a page with several forms names the form', async () => {
    const other = '<form action="https://search.test/"><input name=q></form>'
    const found = await check({ body: `${other}<form action=${HERE}>${TRAP}${EMAIL}${SEND}</form>` })
    expect(codes(found)).toEqual(['error method_not_post'])
    expect(found[0]?.message).toStartWith('Form 2 of the page: ')
  })

  test('is gone once its fix is applied', async () => {
    const findings = await check({ head: PLAIN, inside: EMAIL + SEND })
    const fixes = findings.map(({ fix }) => /<.*>/.exec(fix)?.[0] ?? '')
    const inside = fixes.filter((line) => line.includes('_gotcha')).join('')
    const head = `<meta charset=utf-8><meta name="referrer" content="no-referrer-when-downgrade">${fixes.find((line) => line.includes('t.js'))}`
    expect(await check({ head, inside: inside + EMAIL + SEND })).toEqual([])
  })

  test('comes quickly even from the worst page, in a readable number', async () => {
    const MANY = atScale({ quick: 6_000, full: 30_000, soak: 30_000 })
    const button = (n: number) => `<button formaction="/${n}">x</button>`
    const pages = [
      `<form action=${HERE}>${Array.from({ length: MANY }, (_, n) => button(n)).join('')}`,
      `<form action=${HERE}></form>`.repeat(MANY / 2),
      `<form action=/f/${KEY}></form>`.repeat(MANY / 2),
      `<form action=${HERE}>${'<input name=_x>'.repeat(MANY)}`,
    ]
    for (const body of pages) {
      let found: Finding[] = []
      const spent = await measureProcessorMs(async () => {
        found = await check({ body })
      })
      expect(spent).toBeLessThan(2000)
      expect(found.length).toBeLessThanOrEqual(100)
      expect(JSON.stringify(found).length).toBeLessThan(100_000)
    }
  })
})

const field_ = (required: string): Asked => ({ is: { requiredFields: [required] } })
