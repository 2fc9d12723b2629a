// Pages and scripts of other people, as they really are: scripts that say so in other ways, shapes of answers that they
// expect, addresses as people type them, and submissions with nothing in them.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  SCRIPT_HEADERS,
  sendTo,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onSqlite } from '../../../../tests/support/world.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const ORIGIN = { Origin: 'https://shop.example', Referer: 'https://shop.example/contact' }
const PAGE = { Accept: NAVIGATION_HEADERS.Accept as string }

onSqlite(
  'a form endpoint in the field',
  (server) => {
    test.each<[string, Record<string, string>, 'script' | 'form']>([
      ['a fetch over plain http', { ...ORIGIN, Accept: '*/*', 'User-Agent': FIREFOX }, 'script'],
      ['a fetch from a file', { Origin: 'null', Accept: '*/*', 'User-Agent': FIREFOX }, 'script'],
      ['jQuery', { Accept: 'text/html, */*; q=0.01', 'X-Requested-With': 'XMLHttpRequest' }, 'script'],
      ['a script that names itself', { Accept: '*/*', 'X-Requested-With': 'fetch' }, 'script'],
      ['axios', { Accept: 'application/json, text/plain, */*' }, 'script'],
      [
        'fetch without a wish',
        { 'Sec-Fetch-Mode': 'no-cors', ...ORIGIN, Accept: '*/*', 'User-Agent': FIREFOX },
        'script',
      ],
      ['a form over plain http', { ...ORIGIN, ...PAGE, 'User-Agent': FIREFOX }, 'form'],
      [
        "a form in an app's WebView",
        { ...ORIGIN, ...PAGE, 'X-Requested-With': 'com.app.name', 'User-Agent': FIREFOX },
        'form',
      ],
      [
        'a form',
        { ...NAVIGATION_HEADERS, ...ORIGIN, 'User-Agent': FIREFOX } as Record<string, string>,
        'form',
      ],
      ['no browser', { ...ORIGIN, Accept: '*/*', 'User-Agent': 'curl/8.5.0' }, 'form'],
      ['a browser without an Origin', { Accept: '*/*', 'User-Agent': FIREFOX }, 'form'],
    ])('answers %s', async (_, headers, kind) => {
      const form = await createTestForm(server())
      const answer = await form.post(URLENCODED_TYPE, 'name=Ada', headers)
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
        kind === 'script' ? 200 : 303,
        '*',
      ])
      if (kind === 'script') expect(answer.text).toBe('{"ok":true}')
    })

    describe('in another shape', () => {
      const ask = async (shape: string, body: string, headers: Record<string, string> = SCRIPT_HEADERS) => {
        const form = await createTestForm(server(), {
          requiredFields: ['name'],
          redirectUrl: 'https://shop.example/thanks',
        })
        const response = await fetch(`${server().origin}/f/${form.key}?answer=${shape}`, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'X-Forwarded-For': nextSenderAddress(), 'Content-Type': URLENCODED_TYPE, ...headers },
          body,
        })
        const type = response.headers.get('content-type')
        return {
          status: response.status,
          type,
          text: await response.text(),
          to: response.headers.get('location'),
        }
      }
      const TEXT = 'text/plain; charset=utf-8'
      const mistakes = 'name: This field is required\nemail: Enter a valid email address'

      test('as text', async () => {
        expect(await ask('text', 'name=Ada')).toEqual({ status: 200, type: TEXT, text: 'OK', to: null })
        expect(await ask('text', '_gotcha=x')).toMatchObject({ status: 200, text: 'OK' })
        expect(await ask('text', 'email=x')).toMatchObject({ status: 200, type: TEXT, text: mistakes })
        expect(await ask('text', 'name=Ada', { Accept: '*/*' })).toMatchObject({ text: 'OK' })
        expect(await ask('text', `name=${'x'.repeat(70_000)}`)).toMatchObject({
          status: 413,
          text: 'Submission too large',
        })
      })

      test("as Formspree's", async () => {
        const { text, ...accepted } = await ask('formspree', 'name=Ada')
        expect(accepted).toMatchObject({ status: 200, type: 'application/json' })
        expect(JSON.parse(text)).toEqual({ next: 'https://shop.example/thanks', ok: true })
        const refused = await ask('formspree', 'email=x')
        expect([refused.status, JSON.parse(refused.text)]).toEqual([
          422,
          {
            error: 'Validation errors',
            errors: [
              { field: 'name', code: 'REQUIRED_FIELD_MISSING', message: 'This field is required' },
              { field: 'email', code: 'TYPE_EMAIL', message: 'Enter a valid email address' },
            ],
          },
        ])
        const large = await ask('formspree', `name=${'x'.repeat(70_000)}`)
        expect([large.status, JSON.parse(large.text)]).toEqual([
          413,
          { error: 'Submission too large', errors: [{ message: 'Submission too large' }] },
        ])
      })

      test('neither for a browser that navigates, nor for a shape that nobody knows', async () => {
        const headers = { ...(NAVIGATION_HEADERS as Record<string, string>) }
        expect(await ask('text', 'name=Ada', headers)).toMatchObject({
          status: 303,
          to: 'https://shop.example/thanks',
        })
        expect(await ask('xml', 'name=Ada')).toMatchObject({ status: 200, text: '{"ok":true}' })
      })
    })

    test.each<[string, string | null]>([
      ['email=ada%40b%C3%BCcher.example', 'ada@xn--bcher-kva.example'],
      ['email=%E2%80%8B+ada%40example.com%EF%BB%BF', 'ada@example.com'],
      ['email=Ada%40EXAMPLE.com', 'Ada@EXAMPLE.com'],
      ['_replyto=ada%40example.com', 'ada@example.com'],
      ['_replyto=bob%40example.com&email=ada%40example.com', 'ada@example.com'],
      ['email=ada%40example.com&_replyto=bob%40example.com', 'ada@example.com'],
      ['email=&_replyto=bob%40example.com', 'bob@example.com'],
      ['several=a%40b.example%2C+c%40b%C3%BCcher.example', null],
    ])('reads the address of %s', async (body, email) => {
      const form = await createTestForm(server(), { rules: { several: { type: 'email', multiple: true } } })
      const answer = await form.fetch(`name=Ada&${body}`)
      expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
      const [row] = await form.submissions()
      expect(row?.email ?? null).toBe(email)
      expect(row?.fields).not.toContain('_replyto')
    })

    test('takes several addresses only where the rule of the field says so', async () => {
      const several = 'email=a%40b.example%2C+c%40d.example'
      const strict = await createTestForm(server())
      const refused = await strict.fetch(several)
      expect([refused.status, refused.json.errors]).toEqual([422, { email: 'Enter a valid email address' }])
      const open = await createTestForm(server(), { rules: { email: { type: 'email', multiple: true } } })
      expect((await open.fetch(several)).status).toBe(200)
      expect((await open.submissions())[0]?.email).toBe('a@b.example')
      const wrong = await open.fetch(`${several}%2C+x`)
      expect(wrong.json.errors).toEqual({ email: 'Enter a valid email address' })
      const replyTo = await strict.fetch('_replyto=x')
      expect(replyTo.json.errors).toEqual({ _replyto: 'Enter a valid email address' })
    })

    test.each(['', 'name=&message=', 'name=+&message=%E2%80%8B%0A', '_next=%2Fthanks'])(
      'stores %j as spam with a success, and tells nobody',
      async (body) => {
        const workspace = await server().createWorkspace()
        const hook = await workspace.post('/channels', {
          type: 'webhook',
          name: 'Hook',
          url: 'https://hooks.example/1',
        })
        const { formKey } = await workspace.createForm({ channelIds: [hook.json.data.id] })
        const form = { key: formKey, workspaceId: workspace.id }
        const answer = await sendTo(server(), form.key).fetch(body)
        expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
        const stored = await workspace.api(`/forms/${formKey}/submissions?status=spam`)
        expect(stored.json.data).toMatchObject([{ status: 'spam', spamReasons: ['Every field is blank.'] }])
        expect((await workspace.api('/deliveries')).json.data).toEqual([])
      },
    )
  },
  BEHIND_PROXY,
)
