import { describe, expect, test } from 'bun:test'
import { onBothEngines } from '../../../tests/support/world.ts'
import { expectVisitorPage, sendRawGet, sendRawRequest } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const FUTURE = '2100-01-01T00:00:00.000Z'

onBothEngines('A short link', (server) => {
  test.each([301, 302, 307, 308])(
    'redirects with its status %i, kept by no cache',
    async (redirectStatus) => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({
        redirectStatus,
        destinationUrl: 'https://example.com/a%20b?x=%C3%A9#top',
      })
      const answer = await server().click(slug)
      expect(answer.status).toBe(redirectStatus)
      expect(answer.headers.get('location')).toBe('https://example.com/a%20b?x=%C3%A9#top')
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(answer.text).toBe('')
    },
  )

  test('answers HEAD as it answers GET, without a body', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ redirectStatus: 308 })
    const head = await server().call(`/${slug}`, { method: 'HEAD' })
    expect(head.status).toBe(308)
    expect(head.headers.get('location')).toBe('https://example.com/')
    const missing = await server().call('/nothing-here', { method: 'HEAD' })
    expect(missing.status).toBe(404)
    expect(missing.text).toBe('')
  })

  test('is found whatever its trailing slash, query and case', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ slug: `Mixed-${ws.id}.Case_x` })
    const ways = [
      slug.toLowerCase(),
      slug.toUpperCase(),
      `${slug}/`,
      `${slug}//`,
      `${slug}?a=1&b=/x`,
      `${slug}/?a=1`,
      `${slug}?`,
      `%${slug.charCodeAt(0).toString(16)}${slug.slice(1)}`,
    ]
    for (const way of ways) expect([way, (await server().click(way)).status]).toEqual([way, 302])
    expect((await server().click(`${slug}/more`)).status).toBe(404)
    expect((await server().click(`${slug}-`)).status).toBe(404)
  })

  test('with a Unicode slug is found composed, decomposed, encoded, and in either case', async () => {
    const ws = await server().createWorkspace()
    const slug = `Größe-ệ-हिन्दी-日本-${ws.id}`
    await ws.createLink({ slug })
    const ways = [slug, slug.normalize('NFD'), slug.toUpperCase().replace('SS', 'ß'), slug.toLowerCase()]
    for (const way of ways) {
      expect([way, (await server().click(encodeURIComponent(way))).status]).toEqual([way, 302])
    }
    const { status } = await sendRawGet(server(), `/${encodeURIComponent(slug).toLowerCase()}`)
    expect(status).toBe(302)
  })

  test('with the longest slug is found decomposed too', async () => {
    const ws = await server().createWorkspace()
    const slug = `${ws.id}${'ệ'.repeat(190)}`.slice(0, 190)
    await ws.createLink({ slug })
    expect((await server().click(encodeURIComponent(slug.normalize('NFD')))).status).toBe(302)
  })

  test.each([
    ['broken percent encoding', '/%zz'],
    ['half a character', '/%E0%A4%A'],
    ['half a character and a slash', '/%E0%A4%A/'],
    ['a lone percent', '/%'],
    ['bytes that are not UTF-8', '/%ff%fe'],
    ['a surrogate in UTF-8', '/%ED%A0%80'],
    ['NUL', '/%00'],
    ['NUL inside', '/abc%00def'],
    ['an encoded slash', '/a%2Fb'],
    ['a doubled slash', '//x'],
    ['a parent', '/..'],
    ['a parent in front', '/../x'],
    ['an encoded parent', '/%2e%2e'],
    ['a backslash', '/a\\b'],
    ['a line break', '/a%0d%0aSet-Cookie:%20x=1'],
    ['4,000 characters', `/${'a'.repeat(4000)}`],
    ['4,000 encoded characters', `/${'%C3%A9'.repeat(4000 / 6)}`],
    ['only a plus', '/+'],
    ['a quote', "/a'b--"],
    ['markup', '/%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
    ['raw bytes', '/\u00ff\u00fe'],
    ['a query without end', `/x?${'&'.repeat(3000)}`],
  ])('answers 404 for the unknown slug %s', async (_, target) => {
    const answer = await sendRawGet(server(), target)
    expect(answer.status).toBe(404)
    expect(answer.text).not.toMatch(/set-cookie|<script/i)
  })

  test('redirects without a host, and not where the Host header has none', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({})
    for (const host of ['', 'a b', '[::1', '%zz', 'a@b', '<script>']) {
      const answer = await sendRawRequest(
        server(),
        `GET /${slug}?a=1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      )
      expect([host, answer.status]).toEqual([host, host === '' ? 302 : 400])
    }
  })

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST', 'PROPFIND'])('refuses %s', async (method) => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({})
    for (const path of [`/${slug}`, `/${slug}/`, `/${slug}?a=1`]) {
      const answer = await server().call(path, { method })
      expect([path, answer.status]).toEqual([path, 405])
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
      expect(answer.headers.get('location')).toBeNull()
      expectVisitorPage(answer)
    }
    const json = await server().call(`/${slug}`, { method, headers: { Accept: 'application/json' } })
    expect(json.json).toEqual({ error: 'Method not allowed' })
  })
})

onBothEngines('A slug without an open link', (server) => {
  test('answers people with a page', async () => {
    const answer = await server().click('nothing-here', { Accept: 'text/html,*/*;q=0.8' })
    expect(answer.status).toBe(404)
    expectVisitorPage(answer)
    expect(answer.text).toContain('<title>Link not found</title>')
  })

  test('answers programs in JSON where they ask for it', async () => {
    const answer = await server().click('nothing-here', { Accept: 'application/json' })
    expect(answer.status).toBe(404)
    expect(answer.json).toEqual({ error: 'Link not found' })
    expect(answer.headers.get('x-robots-tag')).toBe('noindex')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  test('gets the same answer for an unknown, archived, deleted or not yet started link', async () => {
    const ws = await server().createWorkspace()
    const archived = await ws.createLink({ archived: true })
    const notStarted = await ws.createLink({ startsAt: FUTURE, expiredUrl: 'https://example.com/over' })
    const deleted = await ws.createLink({})
    expect((await server().click(deleted.slug)).status).toBe(302)
    await ws.api(`/links/${deleted.id}`, { method: 'DELETE' })
    const unknown = await server().click('nothing-here')
    for (const { slug } of [archived, notStarted, deleted]) {
      const answer = await server().click(slug)
      expect([answer.status, answer.text]).toEqual([404, unknown.text])
    }
  })

  test('works with the first request after the link is created', async () => {
    const ws = await server().createWorkspace()
    const slug = `later-${ws.id}`
    expect((await server().click(slug)).status).toBe(404)
    await ws.createLink({ slug })
    expect((await server().click(slug)).status).toBe(302)
  })
})

onBothEngines('A changed link', (server) => {
  test('applies with the next request', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    const change = (body: unknown) => ws.api(`/links/${id}`, { method: 'PATCH', body })
    const seen: unknown[] = []
    for (const body of [
      {},
      { destinationUrl: 'https://example.com/two' },
      { redirectStatus: 301 },
      { archived: true },
      { archived: false },
      { expiresAt: PAST },
      { expiresAt: null, password: 'secret' },
      { password: null },
    ]) {
      await change(body)
      const { status, headers } = await server().click(slug)
      seen.push([status, headers.get('location')])
    }
    const two = 'https://example.com/two'
    expect(seen).toEqual([
      [302, 'https://example.com/'],
      [302, two],
      [301, two],
      [404, null],
      [301, two],
      [410, null],
      [200, null],
      [301, two],
    ])
    await change({ slug: `moved-${id}` })
    expect((await server().click(slug)).status).toBe(404)
    expect((await server().click(`moved-${id}`)).status).toBe(301)
  })
})

onBothEngines('A closed link', (server) => {
  test('answers with a page, or with JSON where a program asks for it', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ expiresAt: PAST })
    const answer = await server().click(slug)
    expect(answer.status).toBe(410)
    expectVisitorPage(answer)
    expect(answer.text).not.toContain('example.com')
    const json = await server().click(slug, { Accept: 'application/json' })
    expect([json.status, json.json]).toEqual([410, { error: 'Link expired' }])
  })

  test('redirects to its expiredUrl with a temporary status', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({
      expiresAt: PAST,
      expiredUrl: 'https://example.com/over?x=1',
      redirectStatus: 301,
      forwardQuery: true,
      trackConversions: true,
    })
    const answer = await server().click(`${slug}?a=1`)
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe('https://example.com/over?x=1')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  test('closes with the last lead of its leadLimit', async () => {
    const ws = await server().createWorkspace()
    const some = await ws.createLink({ leadLimit: 2 })
    const enough = await ws.createLink({ leadLimit: 2 })
    for (const [id, leads] of [
      [some.id, 1],
      [enough.id, 2],
    ]) {
      await server().app.db.write((connection) =>
        connection.updateTable('links').set({ leads }).where('id', '=', id).execute(),
      )
    }
    expect((await server().click(some.slug)).status).toBe(302)
    expect((await server().click(enough.slug)).status).toBe(410)
  })

  test('never redirects to an unsafe stored URL', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    const destination_url = 'javascript:alert(1)'
    await server().app.db.write((connection) =>
      connection.updateTable('links').set({ destination_url }).where('id', '=', id).execute(),
    )
    for (const path of [slug, `${slug}+`]) {
      const answer = await server().click(path)
      expect(answer.status).toBe(410)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.text).not.toContain('javascript')
    }
  })
})

onBothEngines(
  'A deep link',
  (server) => {
    test('is redirected to where the operator allows its scheme', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({ destinationUrl: 'myapp:open?x=1', forwardQuery: true })
      expect((await server().click(`${slug}?a=1`)).headers.get('location')).toBe('myapp:open?x=1&a=1')
    })
  },
  { environment: { DESTINATION_SCHEMES: 'myapp' } },
)

describe('forwardQuery', () => {
  onBothEngines('over HTTP', (server) => {
    test('passes the query on, encoded, without the QR code mark', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({
        forwardQuery: true,
        destinationUrl: 'https://example.com/?own=1#top',
      })
      const { headers } = await server().click(`${slug}/?own=2&a=%20&a=%C3%A9&qr=1&b`)
      expect(headers.get('location')).toBe('https://example.com/?own=1&a=+&a=%C3%A9&b=#top')
    })
  })
})
