// Rules and languages of a form, as its owner sets them and its senders meet them: through HTTP.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  sendTo,
  type TestFormSettings,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onBothEngines, onSqlite } from '../../../../tests/support/world.ts'
import { getTexts, LANGUAGES } from './languages.ts'

const PAGE = 'https://site.example/kontakt'

onBothEngines(
  'the rules of a form',
  (server) => {
    test('are set by its owner, and answered as they are stored', async () => {
      const ws = await server().createWorkspace()
      const rules = {
        phone: { type: 'tel', minLength: 6, maxLength: 30, pattern: '[0-9 +()-]+' },
        constructor: { oneOf: ['a', ''] },
        'plan[]': { oneOf: ['basic', 'pro'] },
      }
      const messages = {
        de: { required: 'Bitte ausfüllen', 'phone.pattern': 'Nur Ziffern' },
        'pt-BR': { 'a.b.email': 'x' },
      }
      const created = await ws.post('/forms', { name: 'F', rules, messages })
      expect([created.status, created.json.data.rules, created.json.data.messages]).toEqual([
        201,
        rules,
        messages,
      ])
      const path = `/forms/${created.json.data.formKey}`
      const patch = (body: object) => ws.patch(path, body)
      expect((await patch({ rules: { a: { type: 'url' } } })).json.data).toMatchObject({
        rules: { a: { type: 'url' } },
        messages,
      })
      expect((await patch({ rules: null, messages: null })).json.data).toMatchObject({
        rules: {},
        messages: {},
      })
    })

    const phone = (rule: object) => ({ rules: { phone: rule } })
    const texts = (language: string, of: unknown) => ({ messages: { [language]: of } })
    const look =
      'has a look-around (?=…), which RE2 does not support, because it keeps the matching time bounded'
    const often = 'repeats too often: `{1,100}`. The maximum is 1000, also for nested repetitions'
    test.each<[object, string, string]>([
      [{ rules: [] }, 'rules', 'must be an object of rules by field'],
      [{ rules: { '': {} } }, 'rules.', 'must not be empty'],
      [{ rules: { _next: {} } }, 'rules._next', 'must not start with "_": such fields are never stored'],
      [phone({ type: 'phone' }), 'rules.phone.type', 'must be one of email, url, tel, number, date'],
      [phone({ minLength: -1 }), 'rules.phone.minLength', 'must be at least 0'],
      [phone({ minLength: 5, maxLength: 4 }), 'rules.phone.minLength', 'must be at most maxLength'],
      [phone({ maxLength: 65_537 }), 'rules.phone.maxLength', 'must be at most 65536'],
      [phone({ max: 4 }), 'rules.phone.max', 'is not a known field'],
      [phone({ pattern: '' }), 'rules.phone.pattern', 'must not be empty'],
      [phone({ pattern: 'x'.repeat(501) }), 'rules.phone.pattern', 'must be at most 500 characters'],
      [
        phone({ pattern: '[a' }),
        'rules.phone.pattern',
        'is not a valid RE2 pattern: missing closing ]: `[a`',
      ],
      [phone({ pattern: '(?=a)b' }), 'rules.phone.pattern', look],
      [phone({ pattern: '((a{1,100}){1,100}){1,100}' }), 'rules.phone.pattern', often],
      [phone({ oneOf: [] }), 'rules.phone.oneOf', 'must have at least one text'],
      [phone({ oneOf: ['a', 'a'] }), 'rules.phone.oneOf', 'must name each text once'],
      [
        phone({ type: 'number', oneOf: ['1', 'two'] }),
        'rules.phone.oneOf.1',
        'is refused by the other rules of this field',
      ],
      [
        { rules: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, {}])) },
        'rules',
        'must be at most 100 fields',
      ],
      [texts('german', { required: 'x' }), 'messages.german', 'must be a language such as de or de-CH'],
      [texts('de', { needed: 'x' }), 'messages.de.needed', 'must be a rule, or a field and a rule…list'],
      [texts('de', { '.required': 'x' }), 'messages.de..required', 'must be a rule…list'],
      [texts('de', { required: ' ' }), 'messages.de.required', 'must not be blank'],
      [texts('de', 'x'), 'messages.de', 'must be an object of texts by rule'],
    ])('are refused with the place and the reason, case %#', async (body, place, reason) => {
      // It goes on with a list.
      const [start, goesOn] = reason.split('…list')
      const errors = { [place]: goesOn === undefined ? reason : expect.stringContaining(start as string) }
      const ws = await server().createWorkspace()
      const created = await ws.post('/forms', { name: 'F', ...body })
      expect([created.status, created.json.errors]).toEqual([422, errors])
      const { formKey } = (await ws.post('/forms', { name: 'F' })).json.data
      const changed = await ws.patch(`/forms/${formKey}`, body)
      expect([changed.status, changed.json.errors]).toEqual([422, errors])
    })

    test('refuse a submission at the field, and store nothing of it', async () => {
      const form = await createTestForm(server(), {
        requiredFields: ['name', 'phone'],
        rules: {
          phone: { type: 'tel', minLength: 6 },
          zip: { pattern: '\\d{5}' },
          plan: { oneOf: ['basic', 'pro'] },
          email: { maxLength: 10 },
          site: { type: 'url' },
        },
      })
      const send = (body: object) => form.json(body)
      const wrong = await send({
        phone: '112',
        zip: '1234',
        plan: ['pro', 'gold'],
        email: 'nobody',
        site: {},
      })
      expect([wrong.status, wrong.json]).toEqual([
        422,
        {
          ok: false,
          errors: {
            name: 'This field is required',
            site: 'Must be a string',
            email: 'Enter a valid email address',
            phone: 'Too short: the minimum length is 6',
            zip: 'This does not have the expected format',
            plan: 'Choose one of the offered values',
          },
        },
      ])
      expect(await form.fields()).toEqual([])
      const right = await send({
        name: 'Ada',
        phone: '030 123456',
        zip: '12345',
        plan: ['pro', 'basic'],
        email: 'a@b.co',
        site: '',
      })
      expect([right.status, right.json]).toEqual([200, { ok: true }])
      expect(await form.fields()).toEqual([
        [
          ['name', 'Ada'],
          ['phone', '030 123456'],
          ['zip', '12345'],
          ['plan', 'pro, basic'],
          ['email', 'a@b.co'],
          ['site', ''],
        ],
      ])
    })

    test('are stored with the sender’s language', async () => {
      const form = await createTestForm(server(), { messages: { it: { required: 'Obbligatorio' } } })
      for (const [lang, header] of [
        ['', ''],
        ['de_AT', 'fr'],
        ['', 'it-CH'],
        ['xx', 'yy'],
      ] as const)
        await form.json(
          { a: '1', _lang: lang },
          {
            'Accept-Language': header,
          },
        )
      const rows = await form.submissions()
      expect(rows.map(({ language }) => language)).toEqual([null, 'de', 'it', null])
      expect(rows.map(({ fields }) => fields)).toEqual(Array(4).fill([['a', '1']]))
    })
  },
  BEHIND_PROXY,
)

onSqlite(
  'the languages of a form',
  (server) => {
    const RULES: TestFormSettings = {
      requiredFields: ['name'],
      rules: {
        url: { type: 'url' },
        tel: { type: 'tel' },
        number: { type: 'number' },
        date: { type: 'date' },
        short: { minLength: 1_000 },
        long: { maxLength: 1 },
        code: { pattern: 'x' },
        plan: { oneOf: ['a'] },
      },
    }
    const WRONG = 'name=+&email=x&url=x&tel=x&number=x&date=x&short=x&long=xx&code=y&plan=b'
    const expected = (language: string) => {
      const { messages } = getTexts(language)
      const limit = new Intl.NumberFormat(language).format(1_000)
      return {
        name: messages.required,
        email: messages.email,
        url: messages.url,
        tel: messages.tel,
        number: messages.number,
        date: messages.date,
        short: messages.minLength.replace('{limit}', limit),
        long: messages.maxLength.replace('{limit}', '1'),
        code: messages.pattern,
        plan: messages.oneOf,
      }
    }

    describe.each(LANGUAGES)('%s', (language) => {
      const header = { 'Accept-Language': `${language}-XX,ja;q=0.9` }

      test('are spoken by the answer to a script', async () => {
        const form = await createTestForm(server(), RULES)
        const { json } = await form.fetch(WRONG, header)
        expect(json).toEqual({ ok: false, errors: expected(language) })
        const { json: named } = await form.fetch(`${WRONG}&_lang=${language}`, { 'Accept-Language': 'nl,fr' })
        expect(named).toEqual(json)
      })

      test('are spoken by the address that a browser is led to', async () => {
        const form = await createTestForm(server(), { requiredFields: ['name'] })
        const { status, headers } = await form.navigate('email=x', { ...header, Referer: PAGE })
        const target = new URL(headers.get('location') ?? '')
        const { required, email } = getTexts(language).messages
        expect([status, JSON.parse(target.searchParams.get('_errors') ?? '')]).toEqual([
          303,
          { name: required, email },
        ])
      })

      test('are spoken by the pages', async () => {
        const form = await createTestForm(server(), {
          ...RULES,
          onError: 'hosted',
          afterSubmit: 'hosted',
          captcha: true,
        })
        const { pages, messages, errors } = getTexts(language)
        const page = { ...NAVIGATION_HEADERS, ...header }
        const mistakes = await form.post(URLENCODED_TYPE, WRONG, { ...page, Referer: PAGE })
        const captcha = await form.post(URLENCODED_TYPE, 'name=Ada', {
          ...page,
          Referer: PAGE,
        })
        const limited = await form.post('text/plain', 'x', page)
        const thanks = await server().call(`/f/${form.key}/thanks`, { headers: page })
        const address = await server().call(`/f/${form.key}`, { headers: page })
        const shared = await server().call('/thanks', { headers: page })
        const unknown = await sendTo(server(), 'nosuchform').navigate('', page)
        for (const { text } of [mistakes, captcha, limited, thanks, address, shared, unknown]) {
          expect(text).toContain(`<html lang="${language}">`)
        }
        const said = (text: string, ...parts: string[]) => {
          for (const part of parts) expect(text).toContain(escapeHtml(part))
        }
        said(
          mistakes.text,
          pages.mistakesTitle,
          pages.mistakes,
          pages.textKept,
          pages.backToForm,
          messages.required,
        )
        said(captcha.text, pages.captchaTitle, pages.captcha, messages.captchaRequired)
        said(limited.text, pages.unreadableTitle, pages.formatUnknown)
        said(thanks.text, pages.thanksTitle, pages.thanks, pages.closePage)
        said(shared.text, pages.thanksTitle, pages.thanks)
        said(address.text, pages.addressTitle, pages.address, pages.addressEmpty)
        said(unknown.text, pages.notFoundTitle, pages.notFound)
        const { json } = await sendTo(server(), 'nosuchform').json('{}', header)
        expect(json).toEqual({ error: errors.notFound })
      })

      test('are spoken by the form info', async () => {
        const uploads = { maxFiles: 3, maxBytes: 1_572_864, accept: ['image/*', '.pdf'] }
        const form = await createTestForm(server(), { ...RULES, uploads, captcha: true })
        const path = `/e/forms?keys=${form.key}&lang=${language}`
        const { json, headers } = await server().call(path, { headers: { 'Accept-Language': 'ja' } })
        const info = json.forms[form.key]
        const { messages, snippet } = getTexts(language)
        expect(info).toMatchObject({ uploads, language, texts: snippet })
        expect(info.texts.fileType).toBe(messages.fileType.replace('{accept}', 'image/*, .pdf'))
        expect(info.texts.tooManyFiles).toBe(messages.tooManyFiles.replace('{limit}', '3'))
        expect(info.texts.fileTooLarge).not.toContain('{')
        expect(info.messages).toEqual(
          expect.arrayContaining([
            ...Object.values(expected(language)),
            messages.captchaFailed,
            messages.text,
          ]),
        )
        expect(info.messages).not.toContain(messages.noUploads)
        expect(headers.get('vary')).toContain('Accept-Language')
        const byHeader = await server().call(`/e/forms?keys=${form.key}`, { headers: header })
        expect(byHeader.json.forms[form.key]).toMatchObject({ texts: info.texts, messages: info.messages })
      })
    })

    const sendAs = async (settings: TestFormSettings, header: string, body = 'a=1') => {
      const form = await createTestForm(server(), settings)
      return form.fetch(body, { 'Accept-Language': header })
    }

    test('have the form’s own texts first: of the field, then of the rule, in the closest locale', async () => {
      const settings: TestFormSettings = {
        requiredFields: ['name', 'firma'],
        rules: { code: { minLength: 1_000 } },
        messages: {
          'de-CH': { required: 'Bitte ausfüllen (CH)' },
          de: {
            required: 'Bitte ausfüllen',
            'name.required': 'Wie heisst du?',
            'code.minLength': '{limit} Zeichen, {other}',
          },
          it: { 'name.required': 'Il nome?' },
          en: { required: 'Please' },
        },
      }
      const errors = async (header: string) => (await sendAs(settings, header, 'code=x')).json.errors
      const code = '1.000 Zeichen, {other}'
      expect(await errors('de-AT')).toEqual({ name: 'Wie heisst du?', firma: 'Bitte ausfüllen', code })
      expect(await errors('de-CH')).toEqual({ name: 'Wie heisst du?', firma: 'Bitte ausfüllen (CH)', code })
      const english = 'Too short: the minimum length is 1,000'
      expect(await errors('it')).toEqual({ name: 'Il nome?', firma: 'Please', code: english })
      expect(await errors('ja')).toEqual({ name: 'Please', firma: 'Please', code: english })
    })

    test('have own texts that stay text on our pages', async () => {
      const form = await createTestForm(server(), {
        onError: 'hosted',
        requiredFields: ['name'],
        messages: { de: { required: '<b>{limit}</b>' } },
      })
      const { text } = await form.navigate('_lang=de')
      expect(text).toContain('&lt;b&gt;{limit}&lt;/b&gt;')
    })

    test('lead on to the thanks page where the form itself names the language', async () => {
      const form = await createTestForm(server(), { afterSubmit: 'hosted' })
      const locate = async (body: string) => (await form.navigate(body, { 'Accept-Language': 'fr' })).headers
      const thanks = `${server().origin}/f/${form.key}/thanks`
      expect((await locate('a=1')).get('location')).toBe(thanks)
      expect((await locate('a=2&_lang=<xx>')).get('location')).toBe(`${thanks}?lang=fr`)
      const headers = await locate('a=3&_lang=de')
      expect([headers.get('location'), headers.get('referrer-policy')]).toEqual([`${thanks}?lang=de`, null])
      const { text } = await server().call(`/f/${form.key}/thanks?lang=de`, {
        headers: { ...NAVIGATION_HEADERS, 'Accept-Language': 'fr' },
      })
      expect(text).toContain(getTexts('de').pages.thanks)
    })

    test('are known before the body is read: for the eleventh submission in a minute', async () => {
      const form = await createTestForm(server())
      const sender = { 'X-Forwarded-For': nextSenderAddress(), 'Accept-Language': 'es' }
      let answer = await form.json('{}', sender)
      for (let i = 0; i < 10; i++) answer = await form.json(`{"a":${i}}`, sender)
      expect([answer.status, answer.json]).toEqual([429, { error: getTexts('es').errors.tooMany }])
    })
  },
  BEHIND_PROXY,
)

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('"', '&quot;')
