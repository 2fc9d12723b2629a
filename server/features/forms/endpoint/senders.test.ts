// Limits on senders of a form, and duplicates.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  JSON_TYPE,
  MULTIPART_TYPE,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  SCRIPT_HEADERS,
  type TestForm,
  toMultipart,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

const PAGE = 'https://site.example/contact'

onBothEngines(
  'the form endpoint',
  (server) => {
    test.each<[string, string]>([
      [URLENCODED_TYPE, '_gotcha=x'],
      [URLENCODED_TYPE, '_gotcha=+'],
      [URLENCODED_TYPE, '_gotcha=&_gotcha=x'],
      [JSON_TYPE, '{"_gotcha":"x","a":{"b":1}}'],
      [MULTIPART_TYPE, toMultipart([{ name: '_gotcha', value: 'x' }])],
    ])('a filled honeypot gets a success, whatever else is wrong: %s %j', async (type, body) => {
      const form = await createTestForm(server(), { requiredFields: ['name'], captcha: true })
      const answer = await form.post(type, body, SCRIPT_HEADERS)
      expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
      expect(await form.submissions()).toEqual([])
    })

    describe('with a captcha', () => {
      test.each([
        [URLENCODED_TYPE, 'a=1', 'required'],
        [URLENCODED_TYPE, 'cf-turnstile-response=', 'required'],
        [URLENCODED_TYPE, '_turnstile=token', 'required'],
        [URLENCODED_TYPE, 'cf-turnstile-response=token', 'failed'],
        [URLENCODED_TYPE, 'cf-turnstile-response=&cf-turnstile-response=token', 'failed'],
        [JSON_TYPE, '{"_turnstile":"token"}', 'failed'],
        [JSON_TYPE, '{"cf-turnstile-response":"token"}', 'failed'],
      ])('%s %s: verification %s', async (type, body, what) => {
        const form = await createTestForm(server(), { captcha: true })
        const error = `Captcha verification ${what}`
        const answer = await form.post(type, body, SCRIPT_HEADERS)
        expect([answer.status, answer.json]).toEqual([422, { ok: false, error }])
        if (type === URLENCODED_TYPE) {
          const back = await form.post(type, body, { ...NAVIGATION_HEADERS, Referer: PAGE })
          const target = `${PAGE}?_errors=${encodeURIComponent(JSON.stringify({ 'cf-turnstile-response': error }))}`
          expect([back.status, back.headers.get('location')]).toEqual([303, target])
          const page = await form.post(type, body, NAVIGATION_HEADERS)
          expect([page.status, page.text]).toEqual([422, expect.stringContaining(error)])
        }
        expect(await form.submissions()).toEqual([])
      })
    })

    test('only allowed origins may send, and the check comes before the body', async () => {
      const form = await createTestForm(server(), {
        allowedOrigins: ['https://site.example', 'https://*.shop.example'],
        requiredFields: ['a'],
      })
      const send = (headers: Record<string, string>, type = URLENCODED_TYPE) =>
        form.post(type, 'a=1', { ...SCRIPT_HEADERS, ...headers })
      for (const headers of [
        { Origin: 'https://evil.example' },
        {},
        { Origin: 'null' },
        { Origin: 'https://shop.example' },
      ] as Record<string, string>[]) {
        const answer = await send(headers, 'text/plain')
        expect([answer.status, answer.text]).toEqual([403, '{"error":"Origin not allowed"}'])
      }
      expect(await form.submissions()).toEqual([])
      for (const headers of [
        { Origin: 'https://site.example' },
        { Origin: 'https://a.shop.example' },
        { Referer: PAGE },
        { Origin: 'null', Referer: PAGE },
      ] as Record<string, string>[]) {
        expect((await send(headers)).status).toBe(200)
      }
    })

    describe('at most ten submissions a minute are taken', () => {
      const send = (form: TestForm, address: string, more: Record<string, string> = {}, body = 'a=1') =>
        form.fetch(body, { 'X-Forwarded-For': address, ...more })

      test('from one address for one form, valid or not', async () => {
        const [form, other] = [
          await createTestForm(server(), { requiredFields: ['a'] }),
          await createTestForm(server()),
        ]
        const address = nextSenderAddress()
        for (let i = 0; i < 4; i++) expect((await send(form, address)).status).toBe(200)
        for (let i = 0; i < 2; i++) expect((await send(form, address, {}, '_gotcha=x')).status).toBe(200)
        for (let i = 0; i < 2; i++) expect((await send(form, address, {}, 'b=1')).status).toBe(422)
        for (let i = 0; i < 2; i++)
          expect((await send(form, address, { 'Content-Type': 'text/plain' })).status).toBe(415)
        for (let i = 0; i < 3; i++) {
          const answer = await send(form, address)
          expect([answer.status, answer.text]).toEqual([
            429,
            '{"error":"Too many submissions. Please try again later."}',
          ])
          expect(answer.headers.get('retry-after')).toBe('60')
        }
        const page = await send(form, address, NAVIGATION_HEADERS)
        expect([page.status, page.headers.get('retry-after'), page.headers.get('content-type')]).toEqual([
          429,
          '60',
          'text/html; charset=utf-8',
        ])
        expect((await send(form, nextSenderAddress())).status).toBe(200)
        expect((await send(other, address)).status).toBe(200)
        expect(await form.submissions()).toHaveLength(5)
      })

      test('or as many as the form says, from the next submission on', async () => {
        const form = await createTestForm(server(), { perAddress: 12 })
        const address = nextSenderAddress()
        const statuses: number[] = []
        for (let i = 0; i < 14; i++) statuses.push((await send(form, address)).status)
        expect(statuses).toEqual([...Array(12).fill(200), 429, 429])
      })

      test('from one IPv6 /64 network, and from one IPv4 address in both notations', async () => {
        const form = await createTestForm(server())
        for (let i = 1; i <= 10; i++) expect((await send(form, `2001:db8:1:2::${i}`)).status).toBe(200)
        expect((await send(form, '2001:db8:1:2:ffff::1')).status).toBe(429)
        expect((await send(form, '2001:db8:1:3::1')).status).toBe(200)
        for (let i = 1; i <= 10; i++)
          expect((await send(form, i % 2 ? '192.0.2.9' : '::ffff:192.0.2.9')).status).toBe(200)
        expect((await send(form, '::ffff:c000:209')).status).toBe(429)
      })

      test('from the first untrusted hop, from right to left', async () => {
        const form = await createTestForm(server())
        for (let i = 1; i <= 10; i++)
          expect((await send(form, `203.0.113.${i}, 198.51.100.7, 127.0.0.1`)).status).toBe(200)
        expect((await send(form, '203.0.113.99, 198.51.100.7')).status).toBe(429)
      })
    })

    describe('an identical submission shortly after', () => {
      test('is stored, and names the submission that it repeats', async () => {
        const form = await createTestForm(server())
        const address = nextSenderAddress()
        const send = (body: string, from = address, to = form) => to.fetch(body, { 'X-Forwarded-For': from })
        for (const body of ['a=1&b=2', 'a=1&b=2', 'b=2&a=1', 'a=1&b=3', 'a=1&b=2']) await send(body)
        await send('a=1&b=2', nextSenderAddress())
        const [first, ...others] = await form.submissions()
        expect(others.map(({ duplicate_of }) => duplicate_of)).toEqual([
          first?.id,
          null,
          null,
          first?.id,
          null,
        ] as never)
        const other = await createTestForm(server())
        await send('a=1&b=2', address, other)
        expect((await other.submissions())[0]?.duplicate_of).toBeNull()
      })
    })
  },
  BEHIND_PROXY,
)
