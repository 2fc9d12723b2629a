// The requests of docs/domains.md do what the page says, with a real DNS server, and its table has each sentence that the owner
// of a name can read.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DomainResource } from '../../server/features/links/domains/schema.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { type DnsServer, startDnsServer } from '../support/fake-servers/dns-server.ts'
import { startCaddy } from '../support/processes/caddy.ts'
import { callHost } from '../support/server/verified-domain.ts'
import { atScale } from '../support/suite.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

const INSTALL_MS = 600_000
const NAME = 'links.acme.example'
const OWN_ADDRESS = '192.0.2.1'
const DAY_MS = 24 * 60 * 60 * 1000

const page = await readCodeBlocks('docs/domains.md')
/** The variables of docs/guide.md, which the page uses. */
const [variables = ''] = (await readCodeBlocks('docs/guide.md')).map(({ code }) => code)
const getBlocks = (heading: string) =>
  page.filter((block) => block.heading === heading).map(({ code }) => code)

let dns: DnsServer
let environment: Record<string, string>
let server: TestServer
let own: TestWorkspace
beforeAll(async () => {
  dns = await startDnsServer()
  dns.set('A', 'go.example', OWN_ADDRESS)
  environment = { TOWPATH_URL: 'https://go.example', TRUST_PROXY: '127.0.0.1', DNS_SERVERS: dns.address }
  server = await startServer('sqlite', { environment })
  own = await server.createWorkspace()
})
afterAll(async () => {
  await server?.close()
  await dns?.stop()
})

/** Runs commands of the page as they stand. @returns what they print */
async function run(code: string): Promise<string> {
  const known = variables.replace('http://localhost:3000', server.origin)
  const child = Bun.spawn(
    ['bash', '-c', `${known}\n${code.replaceAll('http://127.0.0.1:3000', server.origin)}`],
    {
      cwd: ROOT,
      // Commands of the operator have the settings of the server.
      env: {
        ...environment,
        DATA_DIR: server.dataDir,
        PATH: process.env.PATH,
        HOME: server.dataDir,
        KEY: own.key,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ code: await child.exited, err }).toEqual({ code: 0, err: '' })
  return out
}
/** @returns `data` of each answer */
const runRequests = async (code: string) =>
  (await run(code.replaceAll('-H "$H"', '-H "$H" -w "\\n"')))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).data)
const visit = async (host: string, path: string) => {
  const { status, headers } = await callHost(server, host, path)
  return `${status} ${headers.get('location') ?? ''}`.trim()
}
const prove = ({ dns: [proof] }: Pick<DomainResource, 'dns'>) =>
  dns.set('TXT', proof?.name ?? '', proof?.value ?? '')

describe('the requests of docs/domains.md', () => {
  test('add a domain, prove it, and send its visitors here', async () => {
    const [add = '', , look = ''] = getBlocks('Add a domain')
    const [domain, seen] = await runRequests(add)
    expect(domain).toMatchObject({ id: 1, domain: NAME, verified: false })
    expect(seen).toMatchObject({ verified: false, problem: expect.stringContaining('no TXT record') })
    prove(domain)
    dns.set('CNAME', NAME, 'go.example')
    const [verified] = await runRequests(add.split('\n')[1] ?? '')
    expect(verified).toMatchObject({ verified: true, problem: null })
    // The other commands ask DNS, which is not this server's.
    expect(look).toContain(`dig +short TXT ${domain.dns[0]?.name}\n`)
  })

  // Each command is a process of its own; server/cli/cli.test.ts has them as well.
  const isSoak = atScale({ full: false, soak: true })
  test.skipIf(!isSoak)('are commands of the operator as well', async () => {
    const [, commands = ''] = getBlocks('Add a domain')
    const lines = (await run(commands.replaceAll(NAME, 'more.acme.example'))).trim().split('\n')
    const domains = lines.map((line) => JSON.parse(line)).map(({ domain, verified }) => [domain, verified])
    const [verified, added] = [
      [NAME, true],
      ['more.acme.example', false],
    ]
    expect(domains.slice(0, 2)).toEqual([added, verified])
    expect(domains.slice(2)).toEqual(expect.arrayContaining([added, verified]))
  })

  test('make links there, and on the default domain', async () => {
    const [domain, there, here] = await runRequests(getCodeBlock(page, 'Links on it', 'sh'))
    expect(domain).toMatchObject({ primary: true })
    expect(there).toMatchObject({ shortUrl: `https://${NAME}/spring` })
    expect(here.shortUrl).toStartWith('https://go.example/')
    expect(await visit(NAME, '/spring')).toBe('302 https://acme.example/sale')
    expect(await visit('go.example', '/spring')).toBe('404')
  })

  test('lead visitors on who ask for the domain, or for a slug that no link has', async () => {
    await run(getCodeBlock(page, 'Where else visitors go', 'sh'))
    expect(await visit(NAME, '/')).toBe('302 https://acme.example/')
    expect(await visit(NAME, '/no such')).toBe('302 https://acme.example/search?q=no%20such')
    await own.createLink({ slug: 'over', expiresAt: '2020-01-01T00:00:00Z' })
    expect(await visit(NAME, '/over')).toBe('302 https://acme.example/over/over')
  })

  test('serve the files that apps ask for', async () => {
    await run(getCodeBlock(page, 'Links that open your app', 'sh'))
    const read = async (file: string) => (await callHost(server, NAME, `/.well-known/${file}`)).json
    expect(await read('assetlinks.json')).toMatchObject([{ target: { package_name: 'example.acme.app' } }])
    expect(await read('apple-app-site-association')).toMatchObject({ applinks: { details: [{}] } })
    expect(await visit('go.example', '/.well-known/assetlinks.json')).toBe('404')
  })

  test('say to Caddy which names may have a certificate', async () => {
    const ask = getCodeBlock(page, 'Caddy', 'sh')
    expect(await run(ask)).toStartWith('HTTP/1.1 200')
    expect(await run(ask.replace(NAME, 'unknown.example'))).toStartWith('HTTP/1.1 403')
  })

  test(
    'let Caddy believe the addresses of a proxy before it, and not the host that a visitor writes',
    async () => {
      await own.createLink({ slug: 'behind', domain: 'go.example' })
      const block = getCodeBlock(page, 'Cloudflare, or another proxy in front', 'caddyfile')
      const caddy = await startCaddy(
        block.replace('127.0.0.1:3000', new URL(server.origin).host).replace('192.0.2.0/24', '127.0.0.1/32'),
      )
      try {
        const ask = (path: string, headers: Record<string, string>) =>
          fetch(caddy.origin + path, {
            redirect: 'manual',
            headers: { 'User-Agent': BROWSER_USER_AGENT, ...headers },
          })
        expect((await ask('/spring', { 'X-Forwarded-Host': NAME })).status).toBe(404)
        expect((await ask('/behind', { 'X-Forwarded-For': '8.8.8.8' })).status).toBe(302)
        await server.waitUntilShipped()
        const { json } = await own.api('/analytics/clicks?groupBy=country&slug=behind')
        expect(json.data).toMatchObject([{ country: 'US', clicks: 1 }])
      } finally {
        await caddy.end()
      }
    },
    INSTALL_MS,
  )
})

describe('the table of docs/domains.md', async () => {
  const text = await Bun.file(`${ROOT}/docs/domains.md`).text()
  const [, table = ''] = text.split('## What the page says, and what to do')
  const rows = [...table.matchAll(/^\| (.+?) \| /gm)].map(([, says = '']) => says).slice(1)
  /** `…` stands for what differs. @returns the rows that a sentence has */
  const findRows = (sentence: string) =>
    rows.filter((row) => {
      let from = 0
      return row.split('…').every((part) => {
        const at = sentence.indexOf(part.trim(), from)
        from = at + part.trim().length
        return at >= 0
      })
    })
  const seen = new Set<string>()
  function expectRow(sentence: string | null) {
    const found = findRows(sentence ?? '')
    expect([sentence, found.length > 0]).toEqual([sentence, true])
    for (const row of found) seen.add(row)
  }

  let names = 0
  const add = async () => {
    const domain = `n${++names}.acme.example`
    return (await own.api('/domains', { method: 'POST', body: { domain } })).json.data as DomainResource
  }
  const verify = async ({ id }: DomainResource): Promise<DomainResource> =>
    (await own.api(`/domains/${id}/verify`, { method: 'POST' })).json.data

  test('has what a domain that is not verified says', async () => {
    const domain = await add()
    const proof = domain.dns[0]?.name ?? ''
    expectRow((await verify(domain)).problem)
    dns.set('TXT', proof, 'something else')
    expectRow((await verify(domain)).problem)
    for (const fault of ['SERVFAIL', 'REFUSED', 'broken'] as const) {
      dns.fail(proof, fault)
      expectRow((await verify(domain)).problem)
    }
  })

  test('has what a verified domain says, from its first day to its loss', async () => {
    const domain = await add()
    prove(domain)
    expectRow((await verify(domain)).problem)
    dns.set('A', domain.domain, '192.0.2.99')
    expectRow((await verify(domain)).problem)
    dns.set('TXT', domain.dns[0]?.name ?? '')
    for (let day = 0; day <= 7; day++) {
      const { verified, problem } = await verify(domain)
      expect([day, verified]).toEqual([day, day < 7])
      expectRow(problem)
      server.advanceClock(DAY_MS)
    }
  })

  test('has why a name is refused', async () => {
    const refuse = async (workspace: TestWorkspace, domain: string) => {
      const { status, json } = await workspace.api('/domains', { method: 'POST', body: { domain } })
      expect([domain, [403, 409, 422].includes(status)]).toEqual([domain, true])
      expectRow(json.errors?.domain ?? json.error)
    }
    const other = await server.createWorkspace('pro')
    await refuse(other, NAME)
    await refuse(own, NAME)
    for (const name of ['co.uk', 'go.example', 'аcme.example.com']) await refuse(own, name)
    await other.api('/domains', { method: 'POST', body: { domain: 'first.acme.example' } })
    await refuse(other, 'second.acme.example')
  })

  test('has no row for a sentence that nobody reads', () => {
    // Seen by visitors, and not by the page; a silent DNS server takes seconds (links/domains/domains.test.ts).
    const others = [
      'Unknown domain (a page)',
      'The browser says',
      'Too many redirects',
      'has not answered',
      'no DNS server',
    ]
    const expected = rows.filter((row) => !others.some((other) => row.includes(other)))
    expect(expected.filter((row) => !seen.has(row))).toEqual([])
  })
})
