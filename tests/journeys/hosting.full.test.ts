// The files that docs/hosting.md tells people to install work as they stand: nginx and Caddy in front of a server with the
// page's settings, and the systemd unit. Only ports, certificates and directories are those of the test.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { startTlsCaddy } from '../support/processes/caddy.ts'
import { createCertificate } from '../support/processes/certificate.ts'
import { canInstallPackages, installPackage } from '../support/processes/debian-package.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { startNginxWith, wrapNginxConfig } from '../support/processes/nginx.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

const page = await readCodeBlocks('docs/hosting.md')
const readDeployFile = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8')
const readSettings = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])) as Record<
    string,
    string
  >
const { DATA_DIR, PORT, ...settings } = readSettings(getCodeBlock(page, 'Settings', 'sh'))

const INSTALL_MS = 600_000
const LIMIT = 10

describe('docs/hosting.md', () => {
  let server: TestServer
  let port: string
  let own: TestWorkspace
  const dir = mkdtempSync(join(tmpdir(), 'towpath-hosting-'))

  beforeAll(async () => {
    expect(settings).toMatchObject({ TOWPATH_URL: 'https://go.example', TRUST_PROXY: '127.0.0.1,::1' })
    server = await startServer('sqlite', { environment: settings })
    port = new URL(server.origin).port
    own = await server.createWorkspace()
    await own.createLink({ slug: 'spring', destinationUrl: 'https://example.com/sale' })
  })
  afterAll(async () => {
    await server?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Asks the proxy as the page's host. @returns status, `Location` and `Strict-Transport-Security` */
  async function ask(scheme: string, at: number, path: string, ...more: string[]) {
    const to = ['--resolve', `go.example:${at}:127.0.0.1`, `${scheme}://go.example:${at}${path}`]
    const format = '%{http_code} %header{location} %header{strict-transport-security}'
    const words = ['-sk', '-m', '20', '-o', '/dev/null', '-A', BROWSER_USER_AGENT, '-w', format]
    // Not in step with this process, which answers what is asked.
    const asked = Bun.spawn(['curl', ...words, ...more, ...to], { stdout: 'pipe' })
    return (await new Response(asked.stdout).text()).trim()
  }

  /** Nobody gets around the limits of an address by inventing one. */
  async function expectOwnAddress(at: number) {
    const { formKey } = (await own.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
    const send = (_: unknown, n: number) =>
      ask('https', at, `/f/${formKey}`, '-H', `X-Forwarded-For: 203.0.113.${n}`, '-d', 'message=Hello')
    const answers = await Promise.all(Array.from({ length: LIMIT + 1 }, send))
    const statuses = answers.map((answer) => answer.slice(0, 3)).sort()
    expect(statuses).toEqual([...Array(LIMIT).fill('303'), '429'])
  }

  test(
    'nginx: https, the visitor’s own address, and http that leads to https',
    async () => {
      const tlsPort = findFreePort()
      createCertificate(dir, 'go.example', { cert: 'fullchain.pem', key: 'privkey.pem' })
      const site = readDeployFile('nginx/towpath.conf')
      expect(site).toContain('server 127.0.0.1:3000;')
      const nginx = await startNginxWith((home, httpPort) =>
        wrapNginxConfig(
          home,
          site
            .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
            .replace(/listen \[::\].*\n/g, '')
            .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
            .replace('listen 443 ', `listen 127.0.0.1:${tlsPort} `)
            .replaceAll('/etc/letsencrypt/live/go.example', dir),
        ),
      )
      try {
        expect(await ask('https', tlsPort, '/spring')).toBe('302 https://example.com/sale max-age=31536000')
        expect(await ask('http', nginx.port, '/spring?a=1')).toBe('301 https://go.example/spring?a=1')
        await expectOwnAddress(tlsPort)
      } finally {
        await nginx.end()
      }
    },
    INSTALL_MS,
  )

  test(
    'Caddy: the same',
    async () => {
      const site = readDeployFile('caddy/Caddyfile')
      expect(site).toContain('127.0.0.1:3000')
      // compose.yaml sets it in the same way.
      const { tlsPort, httpPort, end } = await startTlsCaddy(site, { TOWPATH_UPSTREAM: `127.0.0.1:${port}` })
      try {
        await until('its certificate', async () => (await ask('https', tlsPort, '/livez')).startsWith('200'))
        expect(await ask('https', tlsPort, '/spring')).toBe('302 https://example.com/sale max-age=31536000')
        expect(await ask('http', httpPort, '/spring')).toStartWith('308 https://go.example')
        await expectOwnAddress(tlsPort)
      } finally {
        await end()
      }
    },
    INSTALL_MS,
  )

  const canAnalyze = Bun.which('systemd-analyze') !== null || canInstallPackages()
  test.skipIf(!canAnalyze)(
    `systemd takes the unit, and says that it exposes little${canAnalyze ? '' : ' (skipped: no systemd-analyze)'}`,
    () => {
      if (!Bun.which('systemd-analyze') && canInstallPackages()) installPackage('systemd', 'install systemd.')
      const unit = readDeployFile('systemd/towpath.service')
      const file = join(dir, 'towpath.service')
      writeFileSync(file, unit.replaceAll('/opt/towpath', ROOT))
      const analyze = (...words: string[]) => {
        const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', ...words, file], { stderr: 'pipe' })
        return { exitCode, said: stderr.toString() }
      }
      expect(analyze('verify')).toEqual({ exitCode: 0, said: '' })
      // systemd's own scale: 10 times the exposure level. A service without protections has 96.
      expect(analyze('security', '--offline=true', '--threshold=20')).toEqual({ exitCode: 0, said: '' })
      expect(readSettings(unit)).toMatchObject({
        EnvironmentFile: '/etc/towpath.env',
        StateDirectory: DATA_DIR?.replace('/var/lib/', ''),
        // The program that an installation of the page has.
        ExecStart: '/opt/towpath/node_modules/.bin/bun server/main.ts',
      })
    },
    INSTALL_MS,
  )

  test('the command that tests a mail server sends a mail', async () => {
    const mail = await startMailServer()
    try {
      const command = getCodeBlock(page, 'Test the mail server', 'sh')
        .replace('smtps://mail.example:465', mail.url())
        .replace("--user 'user:password' ", '')
      expect(await Bun.spawn(['sh', '-c', command], { stdout: 'ignore' }).exited).toBe(0)
      expect(mail.mails.map(({ to, parsed }) => [to, parsed.text?.trim()])).toEqual([
        [['you@example.com'], 'It works.'],
      ])
    } finally {
      await mail.stop()
    }
  })
})
