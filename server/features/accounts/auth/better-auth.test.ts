// Better Auth leaks no secrets and calls nobody by itself. An identity provider that is down does not stop other
// sign-ins.

import { afterEach, expect, spyOn, test } from 'bun:test'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { full } from '../../../../tests/support/suite.ts'
import { signUpOverHttp, toCookieHeader } from '../../../../tests/support/users/sign-up.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { useCheapHashes } from '../../../lib/crypto/cheap-hashes.fixture.ts'
import { getLogLevel, setLogLevel } from '../../../lib/log.ts'

useCheapHashes()

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function start(environment: Record<string, string> = {}) {
  const server = await startServer('sqlite', { environment })
  servers.push(server)
  return server
}

/** Records all output and all outgoing calls while `work` runs. */
async function overhear(work: () => Promise<void>): Promise<{ said: string; called: string[] }> {
  const said: unknown[] = []
  const called: string[] = []
  const level = getLogLevel()
  setLogLevel('info')
  const fetched = globalThis.fetch
  const listened = spyOn(globalThis, 'fetch').mockImplementation(((
    input: Request | string,
    init?: RequestInit,
  ) => {
    called.push(input instanceof Request ? input.url : String(input))
    return fetched(input, init)
  }) as typeof fetch)
  const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    spyOn(console, name).mockImplementation((...words) => void said.push('console', ...words)),
  )
  const streams = [process.stdout, process.stderr].map((stream) =>
    spyOn(stream, 'write').mockImplementation((text) => {
      said.push(text)
      return true
    }),
  )
  try {
    await work()
  } finally {
    for (const spy of [listened, ...consoles, ...streams]) spy.mockRestore()
    setLogLevel(level)
  }
  return { said: said.map(String).join('\n'), called }
}

test('logs no password, token, cookie or email address, and makes no outgoing calls', async () => {
  const server = await start()
  const email = 'cAnArY@example.com'
  const secrets = ['cAnArY password', 'cAnArY wrong one', email, email.toLowerCase()]
  const { said, called } = await overhear(async () => {
    const ada = await signUpOverHttp(server, { email, password: 'cAnArY password' })
    secrets.push(ada.cookie, /=(\w{32})/.exec(ada.cookie)?.[1] as string)
    const post = (path: string, body: object) => ada.postAuth(path, body)
    await post('/sign-in/email', { email, password: 'cAnArY wrong one' })
    await post('/sign-in/email', { email: 'nobody@example.com', password: 'cAnArY wrong one' })
    await post('/sign-up/email', { name: 'x', email, password: 'cAnArY password' })
    await post('/change-password', { currentPassword: 'cAnArY wrong one', newPassword: 'cAnArY password' })
    await post('/reset-password', { token: 'cAnArY-token', newPassword: 'cAnArY password' })
    await ada.auth('/invitation?token=cAnArY-token')
    await ada.auth('/callback/oidc?code=cAnArY&state=cAnArY')
    await ada.api('/links')
    await post('/sign-out', {})
  })
  expect(said.match(/"event":"request"/g)?.length).toBe(10)
  expect(said).not.toContain('console')
  expect(said).not.toContain('cAnArY')
  for (const secret of secrets) expect(said).not.toContain(secret)
  expect(called.filter((url) => !url.startsWith(server.origin))).toEqual([])
})

test('reports a provider that is down, and lets people with a password sign in', async () => {
  const server = await start({
    OIDC_ISSUER: `http://127.0.0.1:${findFreePort()}`,
    OIDC_CLIENT_ID: 'towpath',
    OIDC_CLIENT_SECRET: 'x',
  })
  for (let i = 0; i < 2; i++) {
    const body = { providerId: 'oidc' }
    const { status, json, headers } = await server.post('/api/auth/sign-in/oauth2', body)
    expect([status, json]).toEqual([503, { error: 'Temporarily unavailable' }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const back = await server.call('/api/auth/callback/oidc?code=x&state=y')
  expect([back.status, toCookieHeader(back)]).toEqual([302, ''])
  expect(back.headers.get('location')).toStartWith(`${server.origin}/app/sign-in?error=`)
  expect((await signUpOverHttp(server)).cookie).not.toBe('')
})

full('is not loaded on a server that nobody signs in to', async () => {
  const script = `
    const { setLogLevel } = await import('./server/lib/log.ts')
    setLogLevel('silent')
    const { startServer } = await import('./tests/support/world.ts')
    const loaded = () => Object.keys(require.cache).some((name) => name.includes('/better-auth/'))
    const server = await startServer('sqlite')
    await server.click('nowhere')
    await server.call('/v1/links')
    await server.call('/api/auth/options')
    const before = loaded()
    await server.call('/api/auth/sign-in/email', { method: 'POST', body: { email: 'a@b.example', password: 'x' } })
    console.log(JSON.stringify([before, loaded()]))
    await server.close()
    process.exit(0)`
  const child = Bun.spawn([process.execPath, '-e', script], {
    cwd: new URL('../../../..', import.meta.url).pathname,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect((await new Response(child.stdout).text()).trim().split('\n').at(-1)).toBe('[false,true]')
})
