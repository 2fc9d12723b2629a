// The headers that protect answers: nothing of /v1 is kept by a cache or taken for another type, and browsers stay with
// https where the server's address is https (RFC 6797).

import { describe, expect, test } from 'bun:test'
import { BEHIND_PROXY, createTestForm, URLENCODED_TYPE } from '../support/form-requests.ts'
import type { HttpCall } from '../support/server/http-call.ts'
import { onSqlite } from '../support/world.ts'

const HTTPS = { environment: { ...BEHIND_PROXY.environment, TOWPATH_URL: 'https://go.example' } }

onSqlite(
  'on an https origin',
  (server) => {
    describe('every answer of /v1 is for the caller alone', () => {
      test.each<[string, number, string, HttpCall]>([
        ['a list', 200, '/links', {}],
        ['a creation', 201, '/tags', { method: 'POST', body: { name: 'a' } }],
        ['a mistake in a field', 422, '/tags', { method: 'POST', body: {} }],
        ['no JSON', 400, '/tags', { method: 'POST', body: '{' }],
        ['no key', 401, '/links', { headers: { Authorization: '' } }],
        ['an unknown link', 404, '/links/9', {}],
        ['an unknown path', 404, '/nothing', {}],
        ['a wrong method', 405, '/links', { method: 'PUT', body: {} }],
        ['the API reference', 200, '/openapi.json', {}],
        ['an export of clicks', 200, '/analytics/clicks/export?format=csv', {}],
        ['HEAD', 200, '/links', { method: 'HEAD' }],
      ])('%s', async (_, status, path, call) => {
        const answer = await (await server().createWorkspace()).api(path, call)
        expect(answer.status).toBe(status)
        expect(answer.headers.get('cache-control')).toBe('no-store')
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      })

      test('an export of submissions, a QR code and a repeated answer', async () => {
        const ws = await server().createWorkspace()
        const form = (await ws.api('/forms', { method: 'POST', body: { name: 'a' } })).json.data
        const link = await ws.createLink()
        const again = { method: 'POST', body: { name: 'a' }, headers: { 'Idempotency-Key': '1' } }
        await ws.api('/tags', again)
        for (const answer of [
          await ws.api(`/forms/${form.formKey}/submissions/export?format=csv`),
          await ws.api(`/links/${link.id}/qr?format=png`),
          await ws.api('/tags', again),
        ]) {
          expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual(
            ['no-store', 'nosniff'],
          )
        }
      })
    })

    describe('browsers stay with https after', () => {
      test.each<[string, number, string, HttpCall]>([
        ['a redirect', 302, '/known', {}],
        ['a redirect that the general server answers', 302, '/known', { method: 'HEAD' }],
        ['an unknown slug', 404, '/unknown', {}],
        ['a slug with a slash', 302, '/known/', {}],
        ['the start page', 302, '/', {}],
        ['the dashboard', 200, '/app', {}],
        ['a file of the dashboard that is gone', 404, '/app/assets/old.js', {}],
        ['the API', 401, '/v1/links', {}],
        ['the API reference', 200, '/docs', {}],
        ['its files', 200, '/docs/theme.css', {}],
        ['the health check', 200, '/livez', {}],
        ['metrics', 200, '/metrics', {}],
        ['robots.txt', 200, '/robots.txt', {}],
        ['a file that does not exist', 404, '/favicon.ico', {}],
        ['a path that does not exist', 404, '/a/b/c', {}],
        ['the snippet', 200, '/t.js', {}],
        ['a page view', 200, '/e', { method: 'POST', body: '{}', headers: { 'Sec-GPC': '1' } }],
        ['the thank-you page', 200, '/thanks', {}],
        ['a form that does not exist', 404, '/f/nothing', { method: 'POST', body: '{}' }],
        ['a sign-in', 422, '/api/auth/sign-in/email', { method: 'POST', body: {} }],
      ])('%s', async (_, status, path, call) => {
        const ws = await server().createWorkspace()
        await ws.createLink({ slug: 'known' }).catch(() => {})
        // The first request loads the link into the cache, and the second one takes the fast path.
        await server().call(path, call)
        const answer = await server().call(path, call)
        expect(answer.status).toBe(status)
        expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
      })

      test('a submission', async () => {
        const { key } = await createTestForm(server())
        const answer = await server().call(`/f/${key}`, {
          method: 'POST',
          body: 'a=1',
          headers: { 'Content-Type': URLENCODED_TYPE },
        })
        expect([answer.status, answer.headers.get('strict-transport-security')]).toEqual([
          303,
          'max-age=31536000',
        ])
      })
    })
  },
  HTTPS,
)

onSqlite('on a plain origin', (server) => {
  test('no answer asks for https', async () => {
    await (await server().createWorkspace()).createLink({ slug: 'known' })
    for (const path of ['/known', '/known', '/app', '/v1/links', '/livez']) {
      expect((await server().call(path)).headers.get('strict-transport-security')).toBeNull()
    }
  })
})
