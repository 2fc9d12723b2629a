// What pages tell the browser about themselves, and what a line of the log says about a request.

import { describe, expect, spyOn, test } from 'bun:test'
import { getLogLevel, setLogLevel } from '../../server/lib/log.ts'
import { onSqlite } from '../support/server/test-server.ts'
import { createTeam } from '../support/users/signed-in-user.ts'

/** Pages that a browser shows: the dashboard, the API reference, and pages for visitors. */
const PAGES = ['/app', '/docs', '/thanks', '/no-such-link', '/no/such/page']

const FILES = [
  '/t.js',
  '/docs/reference.js',
  '/docs/theme.css',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
]

const readPolicy = (header: string | null) =>
  new Map((header ?? '').split(';').map((part) => part.trim().split(/ (.*)/s) as [string, string]))

onSqlite('a browser', (server) => {
  describe('may load, on each page, only what the page names', () => {
    test.each(PAGES)('%s', async (path) => {
      const { headers } = await server().call(path, { headers: { Accept: 'text/html' } })
      expect(headers.get('content-type')?.toLowerCase()).toBe('text/html; charset=utf-8')
      const policy = readPolicy(headers.get('content-security-policy'))
      expect(policy.get('default-src')).toBe("'none'")
      expect(policy.get('base-uri')).toBe("'none'")
      expect(policy.get('frame-ancestors')).toBe("'none'")
      expect(policy.get('script-src') ?? "'none'").toMatch(/^'(self|none)'$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|strict-origin-when-cross-origin)$/)
    })
  })

  test.each(['/app', '/docs', '/no-such-link', '/v1/links', '/api/auth/options'])(
    'does not get its request back by TRACE %s',
    async (path) => {
      const headers = { Cookie: 'towpath_session=cAnArY', 'X-Secret': 'cAnArY' }
      const { status, text } = await server().call(path, { method: 'TRACE', headers })
      expect([401, 404, 405]).toContain(status)
      expect(text).not.toContain('cAnArY')
    },
  )

  test.each(FILES)('is told the type and the encoding of %s', async (path) => {
    const { status, headers } = await server().call(path)
    expect([status, headers.get('content-type')]).toEqual([
      200,
      `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
    ])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })
})

onSqlite('the log line of a request', (server) => {
  async function readRequestLines(work: () => Promise<unknown>) {
    const level = getLogLevel()
    const lines: string[] = []
    const spy = spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    setLogLevel('info')
    try {
      await work()
    } finally {
      spy.mockRestore()
      setLogLevel(level)
    }
    return lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
  }

  test('says which key or which person asked, and not what for', async () => {
    const team = await createTeam(server())
    const [byKey, byPerson, byNobody] = await readRequestLines(async () => {
      await team.api('/links?search=cAnArY')
      await team.owner.apiIn(team.id, '/members')
      await server().call('/v1/links', { headers: { Authorization: 'Bearer cAnArY' } })
    })
    const about = { method: 'GET', requestId: expect.stringMatching(/^[\w-]{8,64}$/) }
    expect(byKey).toMatchObject({ ...about, path: '/v1/links', status: 200, workspaceId: team.id })
    expect(byKey.keyId).toBeGreaterThan(0)
    expect(byKey.userId).toBeUndefined()
    expect(byPerson).toMatchObject({ ...about, path: '/v1/members', status: 200, workspaceId: team.id })
    expect([byPerson.keyId, byPerson.userId]).toEqual([undefined, team.owner.id])
    expect(byNobody).toMatchObject({ ...about, status: 401 })
    expect(JSON.stringify([byKey, byPerson, byNobody])).not.toContain('cAnArY')
  })
})
