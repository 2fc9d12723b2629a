// The pages of this server that people see after a form without the snippet: thanks, and mistakes. Nobody but the
// form's owner writes on them.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  SCRIPT_HEADERS,
  type TestForm,
  type TestFormSettings,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onSqlite } from '../../../../tests/support/world.ts'

const SITE = 'https://site.example'
const PAGE = `${SITE}/contact`
const HOSTED: TestFormSettings = { afterSubmit: 'hosted', onError: 'hosted', requiredFields: ['first_name'] }
/** The Referer that browsers send to another site: only the origin of the page. */
const FROM_SITE = { ...NAVIGATION_HEADERS, Origin: SITE, Referer: `${SITE}/` }
const PERSON = { Accept: NAVIGATION_HEADERS.Accept }
const EVIL = '<script>alert(1)</script>'

onSqlite(
  'a form with pages of this server',
  (server) => {
    const createForm = (settings: TestFormSettings = {}) =>
      createTestForm(server(), { ...HOSTED, ...settings })
    const send = (form: TestForm, body: string, headers: Record<string, string> = FROM_SITE) =>
      form.post(URLENCODED_TYPE, body, headers)
    const readThanks = (key: string, headers: Record<string, string> = {}) =>
      server().call(`/f/${key}/thanks`, { headers: { ...PERSON, ...headers } })

    test('thanks with its own message and leads back to its page', async () => {
      const form = await createForm({ pageUrl: `${PAGE}?a=1#form`, successMessage: `We call you.\n${EVIL}` })
      const sent = await send(form, 'first_name=Ada')
      const thanks = `${server().origin}/f/${form.key}/thanks`
      expect([sent.status, sent.headers.get('location')]).toEqual([303, thanks])
      // The browser's own policy decides what the thanks page learns about where it came from.
      expect(sent.headers.get('referrer-policy')).toBeNull()
      const { status, text, headers } = await readThanks(form.key)
      expect(status).toBe(200)
      expect(text).toContain('We call you.\n&lt;script&gt;alert(1)&lt;/script&gt;')
      expect(text).toContain(`href="${PAGE}?a=1#form">Back to site.example</a>`)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).not.toContain('script-src')
      expect(headers.get('x-robots-tag')).toBe('noindex')
    })

    test('leads back where the browser came from while its page is not known, and nowhere else', async () => {
      const form = await createForm()
      const fromSite = await readThanks(form.key, { Referer: `${PAGE}?x=1&_errors=old` })
      expect(fromSite.text).toContain(`href="${PAGE}?x=1">Back to site.example</a>`)
      for (const Referer of [
        '',
        'javascript:alert(1)',
        'https://u:p@site.example/',
        `${server().origin}/f/x`,
      ]) {
        const { text } = await readThanks(form.key, Referer ? { Referer } : {})
        expect(text).not.toContain('href=')
        expect(text).toContain('You can close this page.')
      }
    })

    test('shows nothing of the address that a stranger could write', async () => {
      const form = await createForm({ pageUrl: PAGE })
      const plain = (await readThanks(form.key)).text
      const query = '?back=https://evil.example/&message=evil&_next=https://evil.example/&pageUrl=evil'
      const { text } = await server().call(`/f/${form.key}/thanks${query}`, { headers: PERSON })
      expect(text).toBe(plain)
      expect((await readThanks(form.key, { Referer: 'https://evil.example/' })).text).toBe(plain)
    })

    test('answers a robot as it answers a person, and stores nothing', async () => {
      const form = await createForm({ pageUrl: PAGE })
      const person = await send(form, 'first_name=Ada')
      const robot = await send(form, '_gotcha=x')
      const seen = ({ status, headers, text }: typeof person) => [
        status,
        headers.get('location'),
        [...headers.keys()].sort(),
        text,
      ]
      expect(seen(robot)).toEqual(seen(person))
      expect(await form.submissions()).toHaveLength(1)
    })

    test('thanks also while it is disabled, and not once it is deleted or its workspace is suspended', async () => {
      const form = await createForm({ enabled: false, successMessage: 'It arrived.' })
      expect((await readThanks(form.key)).text).toContain('It arrived.')
      expect((await readThanks('k7m2xw9qpd')).status).toBe(404)
      const suspended = await createForm({ pageUrl: PAGE, successMessage: 'Call us.' })
      await server().update('workspaces', { id: suspended.workspaceId }, { suspended_at: 1 })
      for (const path of [`/f/${suspended.key}/thanks`, `/f/${suspended.key}`]) {
        expect((await server().call(path, { headers: PERSON })).text).not.toMatch(/Call us|site\.example/)
      }
      const posted = await server().post(`/f/${form.key}/thanks`, undefined, {
        'X-Forwarded-For': nextSenderAddress(),
      })
      expect([posted.status, posted.json]).toEqual([404, { error: 'Form not found' }])
    })

    test('says what is wrong beside the names of the fields, and what was sent, and leads back', async () => {
      const form = await createForm({ pageUrl: PAGE })
      const body = new URLSearchParams({ email: 'ada@', message: `Hi\n${EVIL}`, _secret: 'control' })
      const { status, text, headers } = await send(form, body.toString())
      expect(status).toBe(422)
      expect(text).toContain('<strong>First name</strong>: This field is required')
      expect(text).toContain('<strong>Email</strong>: Enter a valid email address')
      expect(text).toContain(`href="${PAGE}">Back to the form</a>`)
      expect(text).toContain('<dt>Message</dt>\n<dd>Hi\n&lt;script&gt;alert(1)&lt;/script&gt;</dd>')
      expect(text).not.toContain(EVIL)
      expect(text).not.toContain('control')
      // The page's one script, which goes back without losing what was typed, is allowed by its hash alone.
      expect(headers.get('content-security-policy')).toMatch(/script-src 'sha256-[\w+/=]{44}'$/)
      expect(await form.submissions()).toEqual([])
    })

    test('shows no text of a page that its settings do not name', async () => {
      const text = 'Your account is locked'
      const body = `--Bd\r\nContent-Disposition: form-data; name="${text}"; filename="x"\r\n\r\nx\r\n--Bd\r\nContent-Disposition: form-data; name="note"\r\n\r\n${text}\r\n--Bd--\r\n`
      const sendFile = (form: TestForm, headers: Record<string, string>) =>
        form.post('multipart/form-data; boundary=Bd', body, headers)
      const strange = { ...NAVIGATION_HEADERS, Origin: 'https://evil.example' }
      for (const settings of [{}, { pageUrl: PAGE }]) {
        const form = await createForm(settings)
        const { status, text: page } = await sendFile(form, strange)
        expect(status).toBe(422)
        expect(page).toContain('<strong>A file</strong>: File uploads are not supported')
        expect(page).not.toContain(text)
      }
      const named = await createForm({ allowedOrigins: ['https://*.site.example', SITE] })
      const { text: page } = await sendFile(named, FROM_SITE)
      expect(page).toContain(`<strong>${text}</strong>: File uploads are not supported`)
      expect(page).toContain(`<dd>${text}</dd>`)
    })

    test('asks for the captcha in words of people, and names no provider', async () => {
      const form = await createForm({ captcha: true, requiredFields: [] })
      for (const token of ['', '&cf-turnstile-response=wrong']) {
        const { status, text } = await send(form, `a=1${token}`)
        expect(status).toBe(422)
        expect(text).toContain('<h1>Please confirm that you are a person</h1>')
        expect(text).toContain(`Captcha verification ${token ? 'failed' : 'required'}`)
        expect(text).not.toMatch(/turnstile|cloudflare/i)
      }
    })

    test('answers programs with JSON, and sends its own page the messages where it asks for them', async () => {
      const form = await createForm({ pageUrl: PAGE })
      const json = { ok: false, errors: { first_name: 'This field is required' } }
      for (const headers of [SCRIPT_HEADERS, { Accept: '*/*' }]) {
        const answer = await send(form, 'a=1', headers)
        expect([answer.status, answer.json]).toEqual([422, json])
      }
      const toPage = await createForm({ pageUrl: PAGE, onError: 'referer' })
      const { status, headers } = await send(toPage, 'a=1')
      const target = new URL(headers.get('location') as string)
      expect([status, target.origin + target.pathname]).toEqual([303, PAGE])
      expect(JSON.parse(target.searchParams.get('_errors') as string)).toEqual(json.errors)
    })

    test('leads a person who opens its address to its page', async () => {
      const form = await createForm({ pageUrl: PAGE })
      const { status, text, headers } = await server().call(`/f/${form.key}`, { headers: PERSON })
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      expect(text).toContain(`href="${PAGE}">Open site.example</a>`)
      const program = await server().call(`/f/${form.key}`)
      expect([program.status, program.json]).toEqual([405, { error: 'Method not allowed' }])
    })
  },
  BEHIND_PROXY,
)
