import { beforeAll, describe, expect, test } from 'bun:test'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { createCaptchaProvider } from '../captcha/create-captcha-provider.ts'
import { createFormInfoEndpoint } from './form-info.ts'

const DEFAULT_DOMAIN = { name: '', workspaceId: null }

const NOW = Date.UTC(2026, 4, 10, 12)

onBothEngines('GET /e/forms', (server) => {
  const keyed = (n: number) => `factsform${n}`
  const secret = 'f3a9c1d7'.repeat(4)
  const ask = (query: string, method = 'GET', turnstile = false) => {
    const keys = { siteKey: '0xsite', secretKey: '0xsecret', verifyUrl: 'http://127.0.0.1:9/' }
    const captcha = createCaptchaProvider({ secret, turnstile: turnstile ? keys : undefined, now: () => NOW })
    const facts = createFormInfoEndpoint({ db: server().app.db, captcha })
    return facts(new Request(`http://go.example/e/forms${query}`, { method }), DEFAULT_DOMAIN)
  }
  // biome-ignore lint/suspicious/noExplicitAny: two shapes, told apart by their provider
  type Told = { successMessage: string | null; captcha: any }
  const forms = async (query: string, turnstile = false) => {
    const answer = (await (await ask(query, 'GET', turnstile)).json()) as { forms: Record<string, Told> }
    return answer.forms
  }

  beforeAll(async () => {
    const { id } = await server().createWorkspace()
    const at = NOW
    const form = (n: number, over: object) => ({
      workspace_id: id,
      form_key: keyed(n),
      name: 'Contact',
      created_at: at,
      updated_at: at,
      ...over,
    })
    await server().insert('forms', [
      form(1, { captcha: 0, success_message: 'Thanks, <b>you</b>!', enabled: 1 }),
      form(2, { captcha: 1, success_message: null, enabled: 1 }),
      form(3, { captcha: 1, success_message: 'off', enabled: 0 }),
    ])
  })

  test('gives the message and the captcha of each form, and leaves out unknown and disabled forms', async () => {
    const told = await forms(`?keys=${keyed(1)},${keyed(2)},${keyed(3)},nosuchform`)
    expect(Object.keys(told).sort()).toEqual([keyed(1), keyed(2)])
    expect(told).toMatchObject({
      [keyed(1)]: { successMessage: 'Thanks, <b>you</b>!', captcha: null, uploads: null, consent: null },
      [keyed(2)]: {
        successMessage: null,
        captcha: {
          provider: 'altcha',
          challenge: expect.objectContaining({ salt: expect.stringContaining(`form=${keyed(2)}&`) }),
        },
      },
    })
  })

  test('gives gives the site key where the operator uses Turnstile', async () => {
    expect((await forms(`?keys=${keyed(2)}`, true))[keyed(2)]?.captcha).toEqual({
      provider: 'turnstile',
      siteKey: '0xsite',
    })
  })

  describe('reads keys from', () => {
    test.each([
      ['', []],
      ['?keys=', []],
      ['?keys=,,', []],
      [`?keys=${keyed(1)}&keys=${keyed(2)}`, [keyed(1), keyed(2)]],
      [`?keys=${keyed(1)}%2C${keyed(1)}`, [keyed(1)]],
      [`?other=1&keys=${keyed(1)}#x`, [keyed(1)]],
      ['?keys=__proto__,constructor', []],
      ['?keys=%00,%ff,%F0%9F%98%80,%', []],
      [`?keys=${keyed(1).toUpperCase()}`, []],
      [`?keys=${'x'.repeat(5000)}`, []],
      [`?keys=${Array.from({ length: 49 }, (_, i) => `k${i}`)},${keyed(1)}`, [keyed(1)]],
    ])('%p', async (query, expected) => {
      expect(Object.keys(await forms(query)).sort()).toEqual(expected)
    })
  })

  test('can be read by every site, and is never cached, because a challenge is for one visitor', async () => {
    const { status, headers } = await ask(`?keys=${keyed(2)}`)
    expect([
      status,
      headers.get('access-control-allow-origin'),
      headers.get('cache-control'),
      headers.get('set-cookie'),
    ]).toEqual([200, '*', 'no-store', null])
    const salt = async () => (await forms(`?keys=${keyed(2)}`))[keyed(2)]?.captcha?.challenge.salt
    expect(await salt()).not.toBe(await salt())
  })

  test('rejects more than 50 keys', async () => {
    const answer = await ask(`?keys=${Array.from({ length: 51 }, (_, i) => `k${i}`)}`)
    expect([answer.status, await answer.json()]).toEqual([422, { error: 'keys: at most 50' }])
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('rejects %s', async (method) => {
    const answer = await ask(`?keys=${keyed(1)}`, method)
    expect([
      answer.status,
      answer.headers.get('allow'),
      answer.headers.get('access-control-allow-origin'),
    ]).toEqual([405, 'GET, HEAD', '*'])
  })

  test('answers 503 while the database is down, readable by every site', async () => {
    const rows = {
      engine: 'sqlite' as const,
      get read(): never {
        throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
      },
    }
    const facts = createFormInfoEndpoint({
      db: rows,
      captcha: createCaptchaProvider({ secret, now: () => NOW }),
    })
    const answer = await facts(new Request('http://go.example/e/forms?keys=abc'), DEFAULT_DOMAIN)
    expect([
      answer.status,
      answer.headers.get('retry-after'),
      answer.headers.get('access-control-allow-origin'),
    ]).toEqual([503, '5', '*'])
  })
})
