// The answers of the form endpoint: status and body in both modes, and where a browser goes next.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  JSON_TYPE,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  SCRIPT_HEADERS,
  sendTo,
  URLENCODED_TYPE,
} from '../../../tests/support/form-requests.ts'
import { until } from '../../../tests/support/until.ts'
import { onBothEngines } from '../../../tests/support/world.ts'

const PAGE = 'https://site.example/contact'

onBothEngines(
  'the form endpoint',
  (server) => {
    describe('answers', () => {
      test('a stored submission with {"ok":true} and headers that let every site read it', async () => {
        const form = await createTestForm(server())
        const answer = await form.fetch('name=Ada&email=ada%40example.com')
        expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
        expect(answer.headers.get('content-type')).toStartWith('application/json')
        expect(await form.fields()).toEqual([
          [
            ['name', 'Ada'],
            ['email', 'ada@example.com'],
          ],
        ])
        const [row] = await form.submissions()
        expect(row).toMatchObject({
          email: 'ada@example.com',
          duplicate_of: null,
          search_text: 'ada\nada@example.com',
        })
      })

      type Ask = (key: string) => [path: string, request: RequestInit]
      const post =
        (type: string, body: RequestInit['body'], headers = {}): Ask =>
        (key) => [`/f/${key}`, { headers: { 'Content-Type': type, ...headers }, body }]
      const form = (body: string) => post(URLENCODED_TYPE, body)
      const json = (body: RequestInit['body']) => post(JSON_TYPE, body)
      const manyFields = Array.from({ length: 257 }, (_, i) => `f${i}=1`).join('&')
      const noBoundary = 'Content-Type has no boundary: let the browser or the HTTP client write this header'
      const refusals: [string, number, string, Ask][] = [
        ['no key', 400, 'Missing form key', () => ['/f', {}]],
        ['no key behind a slash', 400, 'Missing form key', () => ['/f/', {}]],
        ['an unknown key', 404, 'Form not found', () => ['/f/zzzzzzzzzz', {}]],
        ['a key that no store could look for', 404, 'Form not found', () => ['/f/%00%ff', {}]],
        ['more path than a key', 404, 'Form not found', (key) => [`/f/${key}/more`, {}]],
        ['an unsupported type', 415, 'Unsupported content type', post('text/plain', undefined)],
        ['no type', 415, 'Unsupported content type', (key) => [`/f/${key}`, { body: new Uint8Array([97]) }]],
        [
          'a compressed body',
          415,
          'Unsupported content type',
          post(URLENCODED_TYPE, undefined, { 'Content-Encoding': 'gzip' }),
        ],
        ['broken JSON', 400, 'Invalid JSON', json('{"a":')],
        ['an empty JSON body', 400, 'Invalid JSON', json('')],
        ['a JSON list', 400, 'Invalid JSON', json('[]')],
        ['JSON null', 400, 'Invalid JSON', json('null')],
        ['JSON that is no UTF-8', 400, 'Invalid JSON', json(Buffer.from('{"a":"\xff"}', 'latin1'))],
        ['100,000 open brackets', 400, 'Invalid JSON', json('['.repeat(100_000))],
        ['a multipart body without a boundary', 400, noBoundary, post('multipart/form-data', 'x')],
        ['a body over 1 MiB', 413, 'Submission too large', form(`a=${'x'.repeat(1024 * 1024)}`)],
        ['a value over 65,536 characters', 413, 'Submission too large', form(`a=${'x'.repeat(65_537)}`)],
        ['a name over 256 characters', 413, 'Submission too large', form(`${'x'.repeat(257)}=a`)],
        ['257 fields', 413, 'Submission too large', form(manyFields)],
      ]
      test.each(refusals)('%s with %i in either mode', async (_, status, error, ask) => {
        const form = await createTestForm(server())
        const [path, init] = ask(form.key)
        for (const accept of ['application/json', '*/*', NAVIGATION_HEADERS.Accept]) {
          const headers = {
            'X-Forwarded-For': nextSenderAddress(),
            ...(init.headers as object),
            Accept: accept,
          }
          const answer = await fetch(server().origin + path, {
            method: 'POST',
            redirect: 'manual',
            ...init,
            headers,
          })
          expect(answer.status).toBe(status)
          expect(answer.headers.get('access-control-allow-origin')).toBe('*')
          const text = await answer.text()
          const page =
            accept.includes('text/html') &&
            !String((init.headers as Record<string, string>)?.['Content-Type']).includes('json')
          if (page)
            expect([answer.headers.get('content-type'), text]).toEqual([
              'text/html; charset=utf-8',
              expect.stringContaining('<h1>'),
            ])
          else expect(JSON.parse(text)).toEqual({ error })
        }
        expect(await form.submissions()).toEqual([])
      })

      test('a disabled form with 403, from the next request on', async () => {
        const form = await createTestForm(server())
        expect((await form.fetch('a=1')).status).toBe(200)
        const set = (enabled: number) =>
          server().update('forms', { workspace_id: form.workspaceId }, { enabled })
        await set(0)
        const answer = await form.fetch('a=2')
        expect([answer.status, answer.text]).toEqual([403, '{"error":"Form is disabled"}'])
        await set(1)
        expect((await form.fetch('a=3')).status).toBe(200)
        expect(await form.fields()).toEqual([[['a', '1']], [['a', '3']]])
      })

      test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])(
        '%s with 405 and the allowed methods',
        async (method) => {
          const form = await createTestForm(server())
          for (const path of [`/f/${form.key}`, '/f', '/f/', '/f/unknown']) {
            const answer = await server().call(path, { method })
            expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
            expect(answer.headers.get('access-control-allow-origin')).toBe('*')
            expect(answer.text).toBe(method === 'HEAD' ? '' : '{"error":"Method not allowed"}')
          }
        },
      )

      test('a preflight with the requested headers, for any form', async () => {
        const form = await createTestForm(server(), { enabled: false })
        for (const path of [`/f/${form.key}`, '/f/unknown', '/f/']) {
          for (const [asked, allowed] of [
            ['content-type, x-custom', 'content-type, x-custom'],
            ['', 'Content-Type, Accept, X-Requested-With'],
            ['bad header;', 'Content-Type, Accept, X-Requested-With'],
          ]) {
            const headers = {
              Origin: 'https://site.example',
              'Access-Control-Request-Headers': asked as string,
            }
            const answer = await server().call(path, { method: 'OPTIONS', headers })
            expect([answer.status, answer.text]).toEqual([204, ''])
            expect(answer.headers.get('access-control-allow-origin')).toBe('*')
            expect(answer.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS')
            expect(answer.headers.get('access-control-allow-headers')).toBe(allowed as string)
            expect(answer.headers.get('access-control-max-age')).toBe('86400')
          }
        }
      })

      test('every request with the same security headers and without a cookie', async () => {
        const form = await createTestForm(server(), { requiredFields: ['a'] })
        const answers = [
          await form.fetch('a=1'),
          await form.navigate('a=1', { Referer: PAGE }),
          await form.navigate('a=1'),
          await form.navigate(''),
          await form.fetch(''),
          await sendTo(server(), 'unknown').navigate(''),
          await server().call('/f/x'),
          await server().call('/f/x', { method: 'OPTIONS' }),
        ]
        expect(answers.map(({ status }) => status)).toEqual([200, 303, 303, 422, 422, 404, 405, 204])
        for (const { headers } of answers) {
          expect(headers.get('access-control-allow-origin')).toBe('*')
          expect(headers.get('access-control-expose-headers')).toBe('Retry-After')
          expect(headers.get('referrer-policy')).toBe('no-referrer')
          expect(headers.get('cache-control')).toBe('no-store')
          expect(headers.get('x-content-type-options')).toBe('nosniff')
          expect(headers.get('x-robots-tag')).toBe('noindex')
          expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/)
          expect(headers.has('set-cookie')).toBe(false)
        }
        const named = await form.fetch('a=1', { 'X-Request-Id': 'from-the-sender' })
        expect(named.headers.get('x-request-id')).toBe('from-the-sender')
      })
    })

    test.each<[string, Record<string, string>, string | undefined, 200 | 303]>([
      ['fetch', { 'Sec-Fetch-Mode': 'cors', Accept: '*/*' }, URLENCODED_TYPE, 200],
      ['fetch on the same origin', { 'Sec-Fetch-Mode': 'same-origin', Accept: '*/*' }, URLENCODED_TYPE, 200],
      ['JSON without Sec-Fetch', { Accept: '*/*' }, JSON_TYPE, 200],
      ['JSON with a charset', { Accept: '*/*' }, 'Application/JSON; charset=utf-8', 200],
      ['a script on plain http', { Accept: 'application/json' }, URLENCODED_TYPE, 200],
      [
        'a script that also accepts anything',
        { Accept: 'application/json, text/plain, */*' },
        URLENCODED_TYPE,
        200,
      ],
      ['a navigation', NAVIGATION_HEADERS, URLENCODED_TYPE, 303],
      ['a navigation on plain http', { Accept: NAVIGATION_HEADERS.Accept }, URLENCODED_TYPE, 303],
      [
        'a navigation that also accepts JSON',
        { Accept: 'text/html, application/json' },
        URLENCODED_TYPE,
        303,
      ],
      [
        'fetch without cors, which cannot read the answer',
        { 'Sec-Fetch-Mode': 'no-cors', Accept: '*/*' },
        URLENCODED_TYPE,
        303,
      ],
      ['a program that says nothing', { Accept: '*/*' }, URLENCODED_TYPE, 303],
    ])('%s is answered in its mode', async (_, headers, type, status) => {
      const form = await createTestForm(server())
      const body = type === URLENCODED_TYPE ? 'a=1' : '{"a":"1"}'
      const answer = await form.post(type, body, { ...headers, Referer: PAGE })
      expect([answer.status, answer.headers.get('location')]).toEqual([status, status === 303 ? PAGE : null])
      expect(await form.fields()).toEqual([[['a', '1']]])
    })

    test.each<[string, string, string | undefined, string | undefined, string]>([
      ['_next', '_next=https%3A%2F%2Fa.example%2Fok', 'https://b.example/', PAGE, 'https://a.example/ok'],
      ['a relative _next', '_next=%2Fok', 'https://b.example/', PAGE, 'https://site.example/ok'],
      ["the form's page", 'a=1', 'https://b.example/', PAGE, 'https://b.example/'],
      ['where the visitor was', 'a=1', undefined, `${PAGE}?_errors=old&b=2`, `${PAGE}?b=2`],
      ['our thanks', 'a=1', undefined, undefined, '/thanks'],
      ['no script', '_next=javascript%3Aalert(1)', undefined, PAGE, PAGE],
      ['no password', '_next=https%3A%2F%2Fu%3Ap%40e.example', undefined, PAGE, PAGE],
      [
        'no second header',
        '_next=https%3A%2F%2Fa.example%2F%0D%0ASet-Cookie%3A+a%3Db',
        undefined,
        PAGE,
        'https://a.example/Set-Cookie:%20a=b',
      ],
    ])(
      'a success redirects to %s, for a robot too, whose submission is not stored',
      async (_, body, redirectUrl, referer, target) => {
        const form = await createTestForm(server(), { redirectUrl })
        const headers = { ...NAVIGATION_HEADERS, ...(referer ? { Referer: referer } : {}) }
        const expected = new URL(target, server().origin).href
        const answer = await form.post(URLENCODED_TYPE, body, headers)
        expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([303, expected, ''])
        const robot = await form.post(URLENCODED_TYPE, `${body}&_gotcha=x`, headers)
        expect([robot.status, robot.headers.get('location'), robot.text]).toEqual([303, expected, ''])
        expect([...robot.headers.keys()].sort()).toEqual([...answer.headers.keys()].sort())
        const script = await form.post(URLENCODED_TYPE, body, {
          ...headers,
          ...SCRIPT_HEADERS,
        })
        expect([script.status, script.headers.get('location')]).toEqual([200, null])
        expect(await form.submissions()).toHaveLength(2)
      },
    )

    test('stores the source of a submission, and no IP address', async () => {
      const form = await createTestForm(server())
      const headers = {
        ...SCRIPT_HEADERS,
        'User-Agent':
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
        Referer: `${PAGE}?utm_source=news&utm_campaign=may&secret=1`,
        'X-Forwarded-For': '198.51.100.23',
      }
      await form.post(URLENCODED_TYPE, 'a=1', headers)
      const [row] = await form.submissions()
      expect(row).toMatchObject({
        device: 'Desktop',
        browser: 'Chrome',
        os: 'Windows',
        // The Referer is the page of the form: the site is no source of its own.
        referrer: null,
        page_url: PAGE,
        utm_source: 'news',
        utm_campaign: 'may',
        link_id: null,
        session_linked: 0,
      })
      expect(JSON.stringify(row)).not.toMatch(/198\.51\.100\.23|secret/)
      await until('the search for its link', async () => (await form.submissions())[0]?.attribution_due === 0)
      expect((await form.submissions())[0]?.attribution).toBe('none')
    })
  },
  BEHIND_PROXY,
)
