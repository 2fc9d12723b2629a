// The commands of docs/migrate.md do what the page says: they read the APIs of the tools, import here, and take everything along.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IMPORT_SOURCES } from '../../server/features/transfer/schema.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { readCodeBlocks } from '../support/code-blocks.ts'
import { type DnsServer, startDnsServer } from '../support/fake-servers/dns-server.ts'
import {
  type ShortenerApis,
  startShortenerApis,
  TOOL_KEY,
  TOOL_LINKS,
} from '../support/fake-servers/shortener-apis.ts'
import { type ImportAnswer, waitForEnd } from '../support/imports/upload-client.ts'
import { canInstallPackages, installPackage } from '../support/processes/debian-package.ts'
import { callHost } from '../support/server/verified-domain.ts'
import { until } from '../support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(120_000)

const page = await readCodeBlocks('docs/migrate.md')
/** The variables of docs/guide.md, which the page uses. */
const [variables = ''] = (await readCodeBlocks('docs/guide.md')).map(({ code }) => code)
const getBlocks = (heading: string) =>
  page.filter((block) => block.heading === heading).map(({ code }) => code)

const TOOLS =
  /https:\/\/(?:api\.dub\.co|s\.example|kutt\.example|api-ssl\.bitly\.com|api\.rebrandly\.com|api\.short\.io)/g
const DUMP = `CREATE TABLE \`yourls_log\` (
  \`click_id\` int NOT NULL, \`click_time\` datetime NOT NULL, \`shorturl\` varchar(100) NOT NULL, \`referrer\` varchar(200) NOT NULL,
  \`user_agent\` varchar(255) NOT NULL, \`ip_address\` varchar(41) NOT NULL, \`country_code\` char(2) NOT NULL
);
INSERT INTO \`yourls_log\` VALUES (1,'2024-02-01 10:00:00','menu','https://news.example/','Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0','192.0.2.8','DE');
CREATE TABLE \`yourls_url\` (
  \`keyword\` varchar(100) NOT NULL, \`url\` text NOT NULL, \`title\` text, \`timestamp\` timestamp NOT NULL, \`ip\` varchar(41) NOT NULL,
  \`clicks\` int unsigned NOT NULL
);
INSERT INTO \`yourls_url\` VALUES ('menu','https://acme.example/menu','Menu','2024-01-01 10:00:00','192.0.2.7',3);
`
const EVENTS = `Event,Date,Destination URL,Link,Country,OS,Referrer,Referrer URL,Click ID
link,2024-02-01T10:00:00.000Z,https://acme.example/1,https://links.acme.example/dub-1,Germany,iOS,news.example,https://news.example/a,c1
`

let dns: DnsServer
let tools: ShortenerApis
let server: TestServer
let own: TestWorkspace
let dir: string
beforeAll(async () => {
  for (const name of ['curl', 'jq'])
    if (!Bun.which(name) && canInstallPackages()) installPackage(name, `install ${name}.`)
  dns = await startDnsServer()
  tools = startShortenerApis()
  server = await startServer('sqlite', {
    environment: { TOWPATH_URL: 'https://go.example', DNS_SERVERS: dns.address },
  })
  own = await server.createWorkspace()
  dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
  writeFileSync(join(dir, 'dub-events.csv'), EVENTS)
  writeFileSync(
    join(dir, 'dub-links.csv'),
    'Short link,Destination URL,Clicks,Created at,Link ID\nhttps://links.acme.example/spring,https://acme.example/,3,2024-01-01T00:00:00.000Z,link_csv\n',
  )
  writeFileSync(join(dir, 'mysqldump'), `#!/bin/sh\ncat <<'SQL'\n${DUMP}SQL\n`)
  chmodSync(join(dir, 'mysqldump'), 0o700)
  writeFileSync(
    join(dir, 'sink-links.json'),
    JSON.stringify({
      version: '1.0',
      exportedAt: '2024-01-01T00:00:00.000Z',
      count: 1,
      links: [
        {
          id: 'sink1',
          slug: 'sink-1',
          url: 'https://acme.example/sink',
          createdAt: 1_704_067_200,
          updatedAt: 1_704_067_200,
        },
      ],
    }),
  )
})
afterAll(async () => {
  await server?.close()
  await Promise.all([tools?.stop(), dns?.stop()])
  rmSync(dir, { recursive: true, force: true })
})

/** Runs commands of the page as they stand, in a directory with the files that people have. @returns what they print */
async function run(code: string, isWatched = false): Promise<string> {
  const known = variables.replace('http://localhost:3000', server.origin)
  const commands = code
    .replaceAll(TOOLS, tools.origin)
    .replaceAll('npx towpath', `${process.execPath} ${ROOT}/server/cli/main.ts`)
    .replaceAll('http://127.0.0.1:3000', server.origin)
    .replace(/^curl -s (?!.*>)/gm, 'curl -s -w "\\n" ')
  const child = Bun.spawn(['bash', '-c', `${known}\n${commands}`], {
    cwd: dir,
    env: {
      TOWPATH_URL: 'https://go.example',
      DATA_DIR: server.dataDir,
      PATH: `${dir}:${process.env.PATH}`,
      HOME: dir,
      KEY: own.key,
      ...Object.fromEntries(
        ['DUB_KEY', 'SHLINK_KEY', 'KUTT_KEY', 'BITLY_TOKEN', 'REBRANDLY_KEY', 'SHORT_KEY'].map((name) => [
          name,
          TOOL_KEY,
        ]),
      ),
      GROUP: 'Ba1bc23dE4F',
      DOMAIN_ID: '7',
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  // `towpath import` shows its progress there.
  expect({ code: await child.exited, err: isWatched ? '' : err }).toEqual({ code: 0, err: '' })
  return out
}

/** Runs the blocks below a heading, and waits for the import that the last one has started. */
async function importAs(heading: string): Promise<ImportAnswer> {
  const out = await run(getBlocks(heading).join('\n'))
  const answer = JSON.parse(out.trim().split('\n').at(-1) ?? '')
  expect([out, typeof answer.data?.id]).toEqual([out, 'number'])
  const ended = await waitForEnd({ origin: server.origin, key: own.key }, answer.data.id)
  expect([ended.errors, ended.problem, ended.status]).toEqual([[], null, 'done'])
  return ended
}
const find = async (slug: string) => {
  const { json } = await own.api(`/links?search=${slug}&archived=all`)
  return json.data.find((link: { slug: string }) => link.slug === slug)
}

/** Clicks are there a moment after the import is done. */
const waitForClicks = (slug: string, clicks: number) =>
  until(`${clicks} clicks of ${slug}`, async () => (await find(slug))?.clicks === clicks, 15_000)

describe('the commands of docs/migrate.md', () => {
  test('try a file first, import it, and take it back', async () => {
    const [requests = '', commands = '', undo = ''] = getBlocks('Import a file')
    const [tryIt = '', read = '', , , inEarnest = ''] = requests.trim().split('\n')
    const target = { origin: server.origin, key: own.key }
    const { data: dry } = JSON.parse(await run(tryIt))
    expect([dry.id, dry.dryRun]).toEqual([1, true])
    expect(await waitForEnd(target, 1)).toMatchObject({ status: 'done', created: 1 })
    expect(JSON.parse(await run(read)).data).toMatchObject({ id: 1, created: 1 })
    expect((await own.api('/links')).json.total).toBe(0)
    await run(requests.trim().split('\n').slice(2, 4).join('\n'))
    const { data: made } = JSON.parse(await run(inEarnest))
    expect(await waitForEnd(target, made.id)).toMatchObject({ id: 2, status: 'done', created: 1 })
    expect(await find('spring')).toMatchObject({ clicks: 3, createdAt: '2024-01-01T00:00:00.000Z' })
    await run(undo)
    // An undo may go on after its answer.
    await until('no links', async () => (await own.api('/links')).json.total === 0)
    await run(commands, true)
    expect(await find('spring')).toBeDefined()
  })

  test('bring a domain here before its record is changed', async () => {
    const [add = '', compare = '', missing = ''] = getBlocks('Change DNS without losing a click')
    const [create = '', verify = ''] = add.trim().split('\n')
    const { data: domain } = JSON.parse(await run(create))
    expect(domain).toMatchObject({ id: 1, caseSensitive: true, verified: false })
    dns.set('TXT', domain.dns[0].name, domain.dns[0].value)
    dns.set('A', 'links.acme.example', '192.0.2.99')
    expect(JSON.parse(await run(verify)).data).toMatchObject({ verified: true })
    const link = { domain: 'links.acme.example', slug: 'Menu', destinationUrl: 'https://acme.example/menu' }
    await own.createLink(link)
    expect((await run(compare)).trim().toLowerCase()).toBe('location: https://acme.example/menu')
    expect(JSON.parse(await run(missing)).data).toEqual([])
  })

  test('read all pages of Dub', async () => {
    expect(await importAs('Dub')).toMatchObject({ created: TOOL_LINKS, clicks: 1 })
    expect(await find('dub-0')).toMatchObject({ archived: true, domain: 'links.acme.example' })
    expect(await find('dub-1')).toMatchObject({ title: 'Title 1', tags: [{ name: 'Spring' }] })
    await waitForClicks('dub-1', 3)
    const { status } = await callHost(server, 'links.acme.example', '/dub-1')
    expect(status).toBe(302)
  })

  test('read Shlink with its rules and visits', async () => {
    expect(await importAs('Shlink')).toMatchObject({ created: 3, clicks: 6 })
    expect(await find('Shlink-0')).toMatchObject({
      rules: [{ when: { os: ['android'] }, to: 'https://acme.example/android' }],
    })
    await waitForClicks('Shlink-0', 1)
  })

  test('read a dump of YOURLS', async () => {
    expect(await importAs('YOURLS')).toMatchObject({ created: 1, clicks: 1 })
    expect(await find('menu')).toMatchObject({ title: 'Menu' })
    await waitForClicks('menu', 3)
  })

  test.each([
    ['Kutt', 'kutt-119'],
    ['Bitly', 'Bitly119'],
    ['Rebrandly', 'rb-119'],
    ['Short.io', 'short-119'],
  ])('read all pages of %s', async (heading, slug) => {
    expect(await importAs(heading)).toMatchObject({ created: TOOL_LINKS })
    expect(await find(slug)).toMatchObject({ destinationUrl: 'https://acme.example/119' })
  })

  test('read Sink, and any table', async () => {
    expect(await importAs('Sink')).toMatchObject({ created: 1 })
    // The slugs of the example are taken by now.
    await own.api(`/links/bulk?ids=${(await find('spring')).id},${(await find('menu')).id}&permanent=true`, {
      method: 'DELETE',
    })
    const ended = await importAs('Plain CSV')
    expect([ended.created, ended.skipped]).toEqual([2, 0])
  })

  test('take everything along, and bring it back', async () => {
    const { json } = await own.api('/forms', { method: 'POST', body: { name: 'Contact' } })
    const leave = getBlocks('Leave with everything').join('\n').replaceAll('$F', json.data.formKey)
    await run(leave)
    const bytes = await Bun.file(join(dir, 'workspace.zip')).bytes()
    expect(Buffer.from(bytes.slice(0, 2)).toString()).toBe('PK')
    for (const [file, line] of [
      ['links.csv', /^.*slug/],
      ['links.ndjson', /^\{"/],
      ['clicks.csv', /^.*,/],
      ['submissions.csv', /^.*/],
    ] as const)
      expect(await Bun.file(join(dir, file)).text()).toMatch(line)
    const { total } = (await own.api('/links?archived=all')).json
    // On another server, whose default domain has none of the slugs.
    await server.close()
    server = await startServer('sqlite', { environment: { TOWPATH_URL: 'https://new.example' } })
    own = await server.createWorkspace()
    expect((await importAs('Towpath')).status).toBe('done')
    expect((await own.api('/links?archived=all')).json.total).toBe(total)
    expect((await own.api('/forms')).json.data).toMatchObject([{ name: 'Contact' }])
  })
})

test('docs/migrate.md has a section for each tool', async () => {
  const text = await Bun.file(`${ROOT}/docs/migrate.md`).text()
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  // Submissions are on a page of their own: docs/migrate-forms.md.
  const tools = IMPORT_SOURCES.filter((name) => name !== 'submissions')
  const missing = tools.filter((name) => !headings.some((heading) => heading.endsWith(name)))
  expect(missing).toEqual([])
})
