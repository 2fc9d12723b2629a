// Captchas over HTTP: the challenge that a page gets, the token that it sends, and the result of the submission.

import { afterAll, describe, expect, test } from 'bun:test'
import { type Challenge, solve } from '../../../../snippet/proof-of-work.ts'
import { startSiteverify } from '../../../../tests/support/fake-servers/turnstile-siteverify.ts'
import { readMetric } from '../../../../tests/support/read-metrics.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'

// Every visitor has its own address, named by a proxy, so that the limit of ten submissions a minute plays no part
// here.
const PROXIED = { TRUST_PROXY: '127.0.0.1' }
let visitors = 0
const nextAddress = () => {
  visitors++
  return `203.0.${visitors >> 8}.${visitors & 255}`
}

const REQUIRED = { ok: false, error: 'Captcha verification required' }
const FAILED = { ok: false, error: 'Captcha verification failed' }

function visitor(server: TestServer) {
  async function formOf(settings: Record<string, unknown> = {}) {
    const workspace = await server.createWorkspace()
    const body = { name: 'Contact', captcha: true, ...settings }
    const made = await workspace.post('/forms', body)
    expect([made.status, made.json?.error]).toEqual([201, undefined])
    const { formKey } = made.json.data
    const submissions = async () => {
      const { json } = await workspace.api(`/forms/${formKey}/submissions`)
      return json.data as { fields: Record<string, string> }[]
    }
    return { formKey: formKey as string, submissions, stored: async () => (await submissions()).length }
  }

  const send = async (formKey: string, fields: Record<string, string>, headers = {}) => {
    const answer = await server.post(
      `/f/${formKey}`,
      { email: 'jo@example.com', ...fields },
      { 'X-Forwarded-For': nextAddress(), ...headers },
    )
    return { status: answer.status, json: answer.json }
  }
  const withToken = (token: string | undefined) => ({ 'cf-turnstile-response': token ?? '' })

  async function solved(formKey: string): Promise<string> {
    const { json } = await server.call(`/e/forms?keys=${formKey}`)
    const token = await solve(json.forms[formKey].captcha.challenge as Challenge)
    if (token === undefined) throw new Error('the challenge has no solution')
    return token
  }
  const tokens = (provider: string, outcome: string) =>
    readMetric(server.origin, 'towpath_captcha_tokens_total', { provider, outcome })
  return { formOf, send, withToken, solved, tokens }
}

onBothEngines(
  'the built-in captcha',
  (server) => {
    const page = () => visitor(server())

    test('a submission with its solution is stored, without the token among its fields', async () => {
      const { formOf, send, withToken, solved, tokens } = page()
      const { formKey, submissions } = await formOf()
      const token = await solved(formKey)
      expect(await send(formKey, withToken(token))).toEqual({ status: 200, json: { ok: true } })
      expect((await submissions()).map(({ fields }) => fields)).toEqual([{ email: 'jo@example.com' }])
      expect(await tokens('altcha', 'passed')).toBeGreaterThan(0)
    })

    test('takes the alias _turnstile in a JSON body', async () => {
      const { formOf, send, solved } = page()
      const { formKey, stored } = await formOf()
      expect((await send(formKey, { _turnstile: await solved(formKey) })).json).toEqual({ ok: true })
      expect(await stored()).toBe(1)
    })

    test('stores nothing without a token, with junk, or with another form’s token', async () => {
      const { formOf, send, withToken, solved } = page()
      const [{ formKey, stored }, other] = [await formOf(), await formOf()]
      const cases = [
        [{}, REQUIRED],
        [withToken(''), REQUIRED],
        [withToken('junk'), FAILED],
        [withToken('x'.repeat(5000)), FAILED],
        [withToken(await solved(other.formKey)), FAILED],
      ] as const
      for (const [fields, json] of cases) expect(await send(formKey, fields)).toEqual({ status: 422, json })
      expect(await stored()).toBe(0)
    })

    test('stores one of 50 parallel replays', async () => {
      const { formOf, send, withToken, solved } = page()
      const { formKey, stored } = await formOf()
      const token = await solved(formKey)
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(formKey, withToken(token))))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ json }) => json.error === FAILED.error)).toHaveLength(49)
      expect(await stored()).toBe(1)
    })

    test('lets every site read form info, and nothing else', async () => {
      const { formKey } = await page().formOf({ captcha: false, successMessage: 'Thanks' })
      const told = await server().call(`/e/forms?keys=${formKey}`, {
        headers: { Origin: 'https://a.example' },
      })
      const names = ['captcha', 'consent', 'language', 'messages', 'successMessage', 'texts', 'uploads']
      expect(Object.keys(told.json.forms[formKey]).sort()).toEqual(names)
      expect(told.json).toMatchObject({ forms: { [formKey]: { successMessage: 'Thanks', captcha: null } } })
      expect(told.headers.get('access-control-allow-origin')).toBe('*')
      expect((await server().post('/e/forms', {})).status).toBe(405)
    })

    test('a form without captcha needs no token', async () => {
      const { formOf, send } = page()
      const { formKey, stored } = await formOf({ captcha: false })
      expect((await send(formKey, {})).json).toEqual({ ok: true })
      expect(await stored()).toBe(1)
    })
  },
  { environment: PROXIED },
)

const verifier = startSiteverify('0xsecret')
afterAll(() => verifier.close())

onBothEngines(
  'Turnstile',
  (server) => {
    const page = () => visitor(server())
    const tokenFor = (formKey: string, over = {}) =>
      verifier.createToken({ action: 'form', cdata: formKey, ...over })

    test('gives the page the site key', async () => {
      const { formKey } = await page().formOf()
      const { json } = await server().call(`/e/forms?keys=${formKey}`)
      expect(json.forms[formKey].captcha).toEqual({ provider: 'turnstile', siteKey: '0xsite' })
    })

    test('stores a submission with a valid token, and gives Cloudflare the sender’s address', async () => {
      const { formOf, send, withToken, tokens } = page()
      const { formKey, stored } = await formOf()
      const headers = { 'X-Forwarded-For': '198.51.100.9' }
      const token = tokenFor(formKey)
      expect(await send(formKey, withToken(token), headers)).toEqual({ status: 200, json: { ok: true } })
      expect(verifier.requests.at(-1)).toMatchObject({ response: token, remoteip: '198.51.100.9' })
      expect(await stored()).toBe(1)
      expect(await tokens('turnstile', 'passed')).toBeGreaterThan(0)
    })

    describe('nothing is stored', () => {
      test.each([
        ['with a made-up token', () => 'XXXX.DUMMY.TOKEN.XXXX'],
        ['with the token of another form', () => tokenFor('zzzzzzzzzz')],
        ['with the token of another widget', (key: string) => tokenFor(key, { action: 'login' })],
        ['with the token of another site', (key: string) => tokenFor(key, { hostname: 'evil.example' })],
      ])('%s', async (_, token) => {
        const { formOf, send, withToken } = page()
        const { formKey, stored } = await formOf({ allowedOrigins: ['https://shop.example'] })
        const headers = { Origin: 'https://shop.example' }
        const answer = await send(formKey, withToken(token(formKey)), headers)
        expect([answer, await stored()]).toEqual([{ status: 422, json: FAILED }, 0])
      })

      test('while the verifier fails; the same page can be sent again afterwards', async () => {
        const { formOf, send, withToken, tokens } = page()
        const { formKey, stored } = await formOf()
        const token = tokenFor(formKey)
        const trouble = () => new Response('', { status: 503 })
        verifier.answerWith(trouble, trouble)
        expect(await send(formKey, withToken(token))).toEqual({ status: 422, json: FAILED })
        expect(await stored()).toBe(0)
        expect(await tokens('turnstile', 'unavailable')).toBeGreaterThan(0)
        expect((await send(formKey, withToken(token))).json).toEqual({ ok: true })
        expect(await stored()).toBe(1)
      })
    })

    test('does not verify a token while a field is wrong', async () => {
      const { formOf, send, withToken } = page()
      const { formKey } = await formOf({ requiredFields: ['name'] })
      const before = verifier.requests.length
      const token = tokenFor(formKey)
      expect((await send(formKey, withToken(token))).status).toBe(422)
      expect(verifier.requests.length).toBe(before)
      expect((await send(formKey, { ...withToken(token), name: 'Jo' })).json).toEqual({ ok: true })
    })

    test('stores one of 50 parallel replays, even if the verifier accepts all', async () => {
      const { formOf, send, withToken } = page()
      const { formKey, stored } = await formOf()
      const token = tokenFor(formKey)
      const yes = () => Response.json({ success: true, action: 'form', cdata: formKey })
      verifier.answerWith(...Array.from({ length: 50 }, () => yes))
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(formKey, withToken(token))))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ json }) => json.error === FAILED.error)).toHaveLength(49)
      expect(await stored()).toBe(1)
    })
  },
  {
    environment: {
      ...PROXIED,
      TURNSTILE_SITE_KEY: '0xsite',
      TURNSTILE_SECRET_KEY: '0xsecret',
      TURNSTILE_VERIFY_URL: verifier.url,
    },
  },
)
