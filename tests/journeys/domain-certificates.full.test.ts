// Domains of workspaces behind the web servers of `deploy/`, as they stand: a verified name serves https at its first request
// through Caddy, another name gets no certificate, and no header of a visitor chooses the domain.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { startTlsCaddy, type TlsCaddy } from '../support/processes/caddy.ts'
import { createCertificate } from '../support/processes/certificate.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { startNginxWith, wrapNginxConfig } from '../support/processes/nginx.ts'
import { addVerifiedDomain, changeDomain, putLinkOnDomain } from '../support/server/verified-domain.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

const INSTALL_MS = 600_000
const readDeployFile = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8')

let server: TestServer
let own: TestWorkspace
let port: string
beforeAll(async () => {
  server = await startServer('sqlite', {
    environment: { TOWPATH_URL: 'https://go.example', TRUST_PROXY: '127.0.0.1,::1' },
  })
  port = new URL(server.origin).port
  own = await server.createWorkspace()
  await own.createLink({ slug: 'everybodys', destinationUrl: 'https://example.com/default' })
})
afterAll(() => server?.close())

/** Verifies a domain, and makes the link /spring there. @returns the id of the domain */
async function addDomain(name: string) {
  const id = await addVerifiedDomain(server, own.id, name)
  await putLinkOnDomain(server, own, name, { slug: 'spring', destinationUrl: `https://example.com/${name}` })
  return id
}

/** Asks a proxy on this machine for a name. @returns status and `Location`, or "no TLS" */
async function ask(url: string, at: number, ...more: string[]): Promise<string> {
  const { protocol, hostname } = new URL(url)
  const words = [
    '-s',
    '-m',
    '30',
    '-o',
    '/dev/null',
    '-A',
    BROWSER_USER_AGENT,
    '-w',
    '%{http_code} %{redirect_url}',
  ]
  const where = ['--connect-to', `${hostname}:${protocol === 'https:' ? 443 : 80}:127.0.0.1:${at}`]
  // Not in step with this process, which answers what is asked.
  const asked = Bun.spawn(['curl', ...words, ...where, ...more, url], { stdout: 'pipe' })
  const said = (await new Response(asked.stdout).text()).trim()
  // Exit codes of curl: 35 is a failed handshake, 60 a certificate that is not trusted for the name.
  const exitCode = await asked.exited
  return [35, 60].includes(exitCode) ? 'no TLS' : exitCode === 0 ? said : `curl ${exitCode}`
}

/** Replaces the nodes of the cluster by the server of the test. */
const readClusterCaddyfile = () =>
  readDeployFile('cluster/Caddyfile')
    .replace(/node-\d:300[01]( node-\d:300[01])*/g, `127.0.0.1:${port}`)
    .replace('health_port 3001', `health_port ${port}`)
    .replaceAll('127.0.0.1:3080', `127.0.0.1:${findFreePort()}`)

describe.each([
  [
    'caddy/Caddyfile',
    () => readDeployFile('caddy/Caddyfile'),
    () => ({ TOWPATH_UPSTREAM: `127.0.0.1:${port}` }),
  ],
  ['cluster/Caddyfile', readClusterCaddyfile, () => ({ TOWPATH_HOST: 'go.example' })],
])('behind Caddy with deploy/%s', (file, readCaddyfile, getEnvironment) => {
  const zone = `${file.split('/')[0]}.example`
  let caddy: TlsCaddy
  const askTls = (host: string, path: string, ...more: string[]) =>
    ask(`https://${host}${path}`, caddy.tlsPort, '--cacert', caddy.authority, ...more)

  beforeAll(async () => {
    caddy = await startTlsCaddy(readCaddyfile(), getEnvironment())
    await until('the certificate of the default domain', async () =>
      (await askTls('go.example', '/livez')).startsWith('200'),
    )
  }, INSTALL_MS)
  afterAll(() => caddy?.end())

  test('a domain serves https at its first request, and its visitors have their own addresses', async () => {
    await addDomain(`links.${zone}`)
    const target = `302 https://example.com/links.${zone}`
    const forged = ['-H', 'X-Forwarded-For: 8.8.8.8']
    expect(await askTls(`links.${zone}`, '/spring', '--interface', '127.0.0.5')).toBe(target)
    expect(await askTls(`links.${zone}`, '/spring', '--interface', '127.0.0.5', ...forged)).toBe(target)
    expect(await askTls(`links.${zone}`, '/spring', '--interface', '127.0.0.6')).toBe(target)
    await server.waitUntilShipped()
    const { json } = await own.api(`/analytics/clicks?domain=links.${zone}`)
    expect(json.data).toMatchObject({ clicks: 3, visitors: 2 })
  })

  test('an unknown name gets no certificate, nor does one that is not verified', async () => {
    await addVerifiedDomain(server, own.id, `pending.${zone}`, { verified_at: null })
    for (const name of [`pending.${zone}`, `unknown.${zone}`])
      expect(await askTls(name, '/spring')).toBe('no TLS')
  })

  test('a lost domain gets no certificate, and answers nothing with the one that it has', async () => {
    const [lost, used] = [await addDomain(`lost.${zone}`), await addDomain(`used.${zone}`)]
    expect(await askTls(`used.${zone}`, '/spring')).toStartWith('302')
    for (const id of [lost, used]) await changeDomain(server, id, { verified_at: null })
    expect(await askTls(`lost.${zone}`, '/spring')).toBe('no TLS')
    expect(await askTls(`used.${zone}`, '/spring')).toBe('404')
  })

  test('http leads to https on every domain, and no header of a visitor chooses another one', async () => {
    await addDomain(`other.${zone}`)
    expect(await ask(`http://other.${zone}/spring`, caddy.httpPort)).toBe(`308 https://other.${zone}/spring`)
    const claim = ['-H', 'X-Forwarded-Host: go.example']
    expect(await askTls(`other.${zone}`, '/everybodys', ...claim)).toBe('404')
    expect(await askTls(`other.${zone}`, '/app', ...claim)).toBe('404')
    expect(await askTls('go.example', '/everybodys')).toBe('302 https://example.com/default')
  })
})

test(
  'behind nginx, with deploy/nginx/domain.conf beside the default site: the same, with a certificate that exists',
  async () => {
    await addDomain('links.acme.example')
    const dir = mkdtempSync(join(tmpdir(), 'towpath-nginx-tls-'))
    const tlsPort = findFreePort()
    const toSite = (path: string, host: string, httpPort: number) => {
      const { cert, key } = createCertificate(dir, host, { cert: `${host}.pem`, key: `${host}.key` })
      return readDeployFile(path)
        .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
        .replace(/listen \[::\].*\n/g, '')
        .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
        .replace('listen 443 ', `listen 127.0.0.1:${tlsPort} `)
        .replace(`/etc/letsencrypt/live/${host}/fullchain.pem`, cert)
        .replace(`/etc/letsencrypt/live/${host}/privkey.pem`, key)
    }
    const nginx = await startNginxWith((home, httpPort) => {
      const sites = [
        toSite('nginx/towpath.conf', 'go.example', httpPort),
        toSite('nginx/domain.conf', 'links.acme.example', httpPort),
      ]
      return wrapNginxConfig(home, `server_names_hash_bucket_size 128;\n${sites.join('\n')}`)
    })
    try {
      const askTls = (host: string, path: string, ...more: string[]) =>
        ask(`https://${host}${path}`, tlsPort, '--cacert', join(dir, `${host}.pem`), ...more)
      const target = '302 https://example.com/links.acme.example'
      expect(await askTls('links.acme.example', '/spring')).toBe(target)
      expect(await ask('http://links.acme.example/spring?a=1', nginx.port)).toBe(
        '301 https://links.acme.example/spring?a=1',
      )
      expect(await askTls('go.example', '/everybodys')).toBe('302 https://example.com/default')
      const [claimed, default_] = ['links.acme.example', 'go.example'].map((host) => [
        '-H',
        `X-Forwarded-Host: ${host}`,
      ]) as [string[], string[]]
      expect(await askTls('links.acme.example', '/everybodys', ...default_)).toBe('404')
      expect(await askTls('go.example', '/spring', ...claimed)).toBe('404')
      // A name that no site is for gets the first certificate, which is not for it.
      expect(await askTls('unknown.example', '/spring', '--cacert', join(dir, 'go.example.pem'))).toBe(
        'no TLS',
      )
    } finally {
      await nginx.end()
      rmSync(dir, { recursive: true, force: true })
    }
  },
  INSTALL_MS,
)
