import { expect, test } from 'bun:test'
import { onBothEngines, type TestServer } from '../../../tests/support/world.ts'
import { useCheapHashes } from '../../lib/crypto/cheap-hashes.fixture.ts'
import { expectVisitorPage } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const SECRET = 'p&ss wörd=+%'
const FORM = 'application/x-www-form-urlencoded'

useCheapHashes()

/** Sends what a browser sends from the password page. */
const submit = (
  server: TestServer,
  slug: string,
  body: string | undefined,
  headers: Record<string, string> = {},
) => server.post(`/${slug}`, body, { 'Content-Type': FORM, ...headers })

const form = (password: string) => new URLSearchParams({ password }).toString()

onBothEngines(
  'A link with a password',
  (server) => {
    const locked = async (fields = {}) => {
      const ws = await server().createWorkspace()
      return {
        ws,
        ...(await ws.createLink({ password: SECRET, destinationUrl: 'https://hidden.example/', ...fields })),
      }
    }

    test('asks for the password on an accessible page', async () => {
      const { slug } = await locked({ title: 'Merger' })
      const answer = await server().click(slug)
      expect(answer.status).toBe(200)
      expectVisitorPage(answer)
      expect(answer.text).toContain('<form method="post"')
      expect(answer.text).toContain('<label for="password">')
      expect(answer.text).toMatch(/<input id="password" name="password" type="password" required/)
      expect(answer.text).not.toMatch(/hidden\.example|Merger|role="alert"/)
      expect(answer.headers.get('location')).toBeNull()
    })

    test('answers HEAD as GET', async () => {
      const { slug } = await locked()
      const answer = await server().call(`/${slug}`, { method: 'HEAD' })
      expect([answer.status, answer.text, answer.headers.get('location')]).toEqual([200, '', null])
    })

    test.each([301, 302, 307, 308])(
      'redirects with 303 after the right password, whatever status the link has: %i',
      async (redirectStatus) => {
        const { slug } = await locked({ redirectStatus })
        const answer = await submit(server(), slug, form(SECRET))
        expect(answer.status).toBe(303)
        expect(answer.headers.get('location')).toBe('https://hidden.example/')
        expect(answer.headers.get('cache-control')).toBe('private, no-store')
        expect(answer.headers.get('set-cookie')).toBeNull()
      },
    )

    test('applies query, click id and device rules after the right password', async () => {
      const { slug } = await locked({
        forwardQuery: true,
        trackConversions: true,
        deviceTargeting: { ios: 'https://ios.example/' },
      })
      const answer = await submit(server(), `${slug}/?a=1`, form(SECRET), { 'User-Agent': 'iPhone' })
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toMatch(/^https:\/\/ios\.example\/\?a=1&tp_cid=[\w.-]+$/)
    })

    test('says that a wrong password is wrong, and nothing else', async () => {
      const { slug } = await locked()
      const answer = await submit(server(), slug, form('guess'))
      expect(answer.status).toBe(403)
      expectVisitorPage(answer)
      expect(answer.text).toContain('<p role="alert" id="wrong">')
      expect(answer.text).toContain('aria-invalid="true" aria-describedby="wrong"')
      expect(answer.text).not.toMatch(/hidden\.example|guess/)
      expect(answer.headers.get('location')).toBeNull()
    })

    test.each([
      ['no body', undefined, FORM],
      ['an empty body', '', FORM],
      ['no such field', 'pass=x', FORM],
      ['another case', form(SECRET.toUpperCase()), FORM],
      ['more than it', form(`${SECRET} `), FORM],
      ['JSON', JSON.stringify({ password: SECRET }), 'application/json'],
      [
        'a multipart form',
        `--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n${SECRET}\r\n--x--\r\n`,
        'multipart/form-data; boundary=x',
      ],
      ['a body beyond all passwords', `${form(SECRET)}&more=${'x'.repeat(20_000)}`, FORM],
      ['bytes that are not text', 'password=%ff%fe%00', FORM],
    ])('stays closed for %s', async (_, body, type) => {
      const { slug } = await locked()
      const answer = await submit(server(), slug, body, { 'Content-Type': type })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('location')).toBeNull()
      expect((await server().click(slug)).status).toBe(200)
    })

    test('takes five tries a minute from one address, right passwords included', async () => {
      const { slug } = await locked()
      const from = { 'X-Forwarded-For': '203.0.113.7' }
      for (let n = 0; n < 5; n++) expect((await submit(server(), slug, form('guess'), from)).status).toBe(403)
      const refused = await submit(server(), slug, form(SECRET), from)
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(60)
      expectVisitorPage(refused)
      expect(refused.text).toContain('role="alert"')
      expect(refused.headers.get('location')).toBeNull()
      // Opening the page is no try. Each link and each address has its own count.
      expect((await server().click(slug, from)).status).toBe(200)
      expect((await submit(server(), (await locked()).slug, form(SECRET), from)).status).toBe(303)
      const other = await submit(server(), slug, form(SECRET), { 'X-Forwarded-For': '203.0.113.8' })
      expect(other.status).toBe(303)
    })

    test('counts an IPv6 /64 network as one address', async () => {
      const { slug } = await locked()
      const from = (host: number) => ({ 'X-Forwarded-For': `2001:db8:1:2::${host}` })
      for (let n = 1; n <= 5; n++) await submit(server(), slug, form('guess'), from(n))
      expect((await submit(server(), slug, form(SECRET), from(6))).status).toBe(429)
      const neighbor = await submit(server(), slug, form(SECRET), { 'X-Forwarded-For': '2001:db8:1:3::1' })
      expect(neighbor.status).toBe(303)
    })

    test('answers as closed when it closes while a visitor types the password', async () => {
      const { ws, id, slug } = await locked()
      await ws.patch(`/links/${id}`, { expiresAt: PAST })
      expect((await submit(server(), slug, form(SECRET))).status).toBe(410)
      await ws.patch(`/links/${id}`, { expiredUrl: 'https://example.com/over' })
      const answer = await submit(server(), slug, form('guess'))
      expect([answer.status, answer.headers.get('location')]).toEqual([303, 'https://example.com/over'])
      await ws.patch(`/links/${id}`, { archived: true })
      expect((await submit(server(), slug, form(SECRET))).status).toBe(404)
      await ws.delete(`/links/${id}`)
      expect((await submit(server(), slug, form(SECRET))).status).toBe(404)
    })

    test('takes a new password at once, and no longer the old one', async () => {
      const { ws, id, slug } = await locked()
      expect((await server().click(slug)).status).toBe(200)
      await ws.patch(`/links/${id}`, { password: 'other' })
      expect((await submit(server(), slug, form(SECRET))).status).toBe(403)
      expect((await submit(server(), slug, form('other'))).status).toBe(303)
    })

    test('stores the password as a hash and never shows it', async () => {
      const { ws, id } = await locked()
      const { text } = await ws.api(`/links/${id}`)
      expect(text).not.toContain('argon2')
      expect(text).not.toContain(SECRET)
      const row = await server().row('links', { id })
      expect(row.password_hash).toStartWith('$argon2id$')
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)

onBothEngines('password tries without a trusted proxy', (server) => {
  test('are counted by the peer address, whatever X-Forwarded-For says', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ password: SECRET })
    for (let n = 0; n < 5; n++) {
      await submit(server(), slug, form('guess'), { 'X-Forwarded-For': `203.0.113.${n}` })
    }
    const answer = await submit(server(), slug, form(SECRET), { 'X-Forwarded-For': '203.0.113.99' })
    expect(answer.status).toBe(429)
  })
})
