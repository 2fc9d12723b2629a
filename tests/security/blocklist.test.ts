// No link leads to a host on the operator's list: not when it is stored, and not when it is followed later.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../server/config/config.ts'
import { createBlocklist } from '../../server/features/links/blocklist/blocklist.ts'
import { expectVisitorPage } from '../../server/features/redirect/redirect.fixture.ts'
import { openServices } from '../../server/start/services.ts'
import { SCRIPT_HEADERS } from '../support/form-requests.ts'
import { quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite } from '../support/world.ts'

setDefaultTimeout(120_000)

const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
const FILE = join(dir, 'blocked-hosts.txt')
const START = `# Hosts that nobody wants
bad.example
*.wild.example   # with its subdomains
Bücher.Example
0.0.0.0 hosts-file.example second.example
203.0.113.7
[2001:db8::7]
`
writeFileSync(FILE, START)

/** As a careful program writes a file: whole at once. */
function replaceList(text: string) {
  writeFileSync(`${FILE}.new`, text)
  renameSync(`${FILE}.new`, FILE)
}

const WRONG = 'must not point to a host that the operator of this server blocks'

/** Other spellings of blocked hosts. */
const BLOCKED = [
  'https://bad.example/',
  'https://BAD.Example/path?q=1#x',
  'https://bad.example./',
  'https://bad.example.:8443/',
  'https://a.b.bad.example/',
  'https://x.wild.example',
  'https://wild.example',
  'https://b%C3%BCcher.example/',
  'https://xn--bcher-kva.example/',
  'https://www.bücher.example/',
  'https://ｂａｄ.example/',
  'https://bad。example/',
  'https:\\\\bad.example\\',
  'ht\ntps://bad.exa\tmple/',
  'http://second.example',
  'http://hosts-file.example',
  'http://203.0.113.7/',
  'http://0xcb007107/',
  'http://3405803783/',
  'http://0313.0.0161.07/',
  'http://203.0.28935/',
  'http://[2001:db8:0::0:7]/',
  'myapp://bad.example/open',
]
const ALLOWED = [
  'https://notbad.example/',
  'https://bad.example.org/',
  'https://example/',
  'https://ok.example/?to=https://bad.example',
  'https://ok.example/bad.example',
  'http://203.0.113.70/',
  'http://7.203.0.113/',
  'myapp:bad.example',
]

onSqlite(
  'The list of blocked hosts',
  (server) => {
    test('refuses each spelling of a blocked host when a link is stored, and no other host', async () => {
      const ws = await server().createWorkspace()
      const create = (destinationUrl: string) =>
        ws.api('/links', { method: 'POST', body: { destinationUrl } })
      for (const url of BLOCKED) {
        const { status, json } = await create(url)
        expect([url, status, json.errors]).toEqual([url, 422, { destinationUrl: WRONG }])
      }
      for (const url of ALLOWED) expect([url, (await create(url)).status]).toEqual([url, 201])
      const withUser = await create('https://ok.example@bad.example/')
      expect(withUser.status).toBe(422)
    })

    test('holds for every field that leads a visitor somewhere', async () => {
      const ws = await server().createWorkspace()
      const { id } = await ws.createLink({ externalId: 'mine' })
      const bad = 'https://bad.example/'
      for (const [field, value] of [
        ['destinationUrl', bad],
        ['expiredUrl', bad],
        ['geoTargeting.DE', { DE: bad }],
        ['deviceTargeting.ios', { ios: bad }],
      ] as const) {
        const name = field.split('.')[0] as string
        const body = { [name]: value }
        const changed = await ws.api(`/links/${id}`, { method: 'PATCH', body })
        expect([changed.status, changed.json.errors]).toEqual([422, { [field]: WRONG }])
        const created = await ws.api('/links', {
          method: 'POST',
          body: { destinationUrl: 'https://ok.example', ...body },
        })
        expect([created.status, created.json.errors]).toEqual([422, { [field]: WRONG }])
      }
      const bulk = await ws.api('/links/bulk', {
        method: 'POST',
        body: [{ destinationUrl: 'https://ok.example' }, { destinationUrl: bad }],
      })
      expect([bulk.status, bulk.json.errors]).toEqual([422, { '1.destinationUrl': WRONG }])
      const upsert = { destinationUrl: bad, externalId: 'mine' }
      expect((await ws.api('/links/upsert', { method: 'PUT', body: upsert })).status).toBe(422)
      const body = { name: 'a', redirectUrl: bad, pageUrl: bad }
      const form = await ws.api('/forms', { method: 'POST', body })
      expect([form.status, form.json.errors]).toEqual([422, { redirectUrl: WRONG, pageUrl: WRONG }])
    })

    quick(
      'is judged again when the file changes: links answer 451, on every path, without the destination',
      async () => {
        const ws = await server().createWorkspace()
        const late = 'https://late.example/landing'
        const plain = await ws.createLink({ destinationUrl: late })
        const forwarding = await ws.createLink({ destinationUrl: late, forwardQuery: true })
        const expired = await ws.createLink({ expiresAt: '2020-01-01T00:00:00.000Z', expiredUrl: late })
        const byDevice = await ws.createLink({ deviceTargeting: { ios: late } })
        const locked = await ws.createLink({ destinationUrl: late, password: 'x' })
        const fine = await ws.createLink({})
        const form = {
          name: 'a',
          redirectUrl: 'https://late.example/thanks',
          pageUrl: 'https://late.example/contact',
        }
        const { formKey } = (await ws.api('/forms', { method: 'POST', body: form })).json.data
        const send = () =>
          server().call(`/f/${formKey}`, {
            method: 'POST',
            body: 'a=1',
            headers: {
              'Content-Type': 'application/x-www-form-urlencoded',
              Referer: 'https://page.example/',
            },
          })
        expect((await send()).headers.get('location')).toBe('https://late.example/thanks')
        for (const { slug } of [plain, forwarding, expired, byDevice, fine])
          expect((await server().click(slug)).status).toBe(302)

        replaceList(`${START}late.example\n`)
        await until('the new list is in use', async () => (await server().click(plain.slug)).status === 451)
        for (const { slug } of [plain, forwarding, expired, byDevice]) {
          for (const path of [slug, `${slug}+`]) {
            const answer = await server().click(path)
            expect([path, answer.status]).toEqual([path, 451])
            expectVisitorPage(answer)
            expect(answer.text).toContain('<h1>Link blocked</h1>')
            expect(answer.text).not.toContain('late.example')
          }
        }
        expect((await server().click(fine.slug)).status).toBe(302)
        const opened = await server().call(`/${locked.slug}`, {
          method: 'POST',
          body: 'password=x',
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        })
        expect([opened.status, opened.headers.get('location')]).toEqual([451, null])
        // A visitor for whom another destination is meant still gets there.
        expect(
          (await server().click(byDevice.slug, { 'User-Agent': 'Mozilla/5.0 (X11; Linux)' })).status,
        ).toBe(302)
        expect((await ws.api(`/links/${plain.id}/resolve`)).json.data).toEqual({
          rule: 'blocked',
          status: 451,
          destinationUrl: null,
        })
        const sent = await send()
        expect([sent.status, sent.headers.get('location')]).toEqual([303, 'https://page.example/'])
        const address = await server().call(`/f/${formKey}`, { headers: { Accept: 'text/html' } })
        expect([address.status, address.text.includes('late.example')]).toEqual([405, false])
        expect(
          (await server().call(`/f/${formKey}`, { method: 'POST', body: { a: 1 }, headers: SCRIPT_HEADERS }))
            .json,
        ).toEqual({ ok: true })

        replaceList(START)
        await until('the old list is in use', async () => (await server().click(plain.slug)).status === 302)
      },
    )
  },
  { environment: { DESTINATION_BLOCKLIST: FILE, DESTINATION_SCHEMES: 'myapp' } },
)

test('a file that cannot be used keeps the list before it', async () => {
  const path = join(dir, 'reloaded.txt')
  const write = (text: string) => writeFileSync(path, text)
  const blocks = (url: string) => blocklist.isBlocked(new URL(url))
  /** The first look sees the change, the second one that the file stands still. */
  const look = async () => {
    await blocklist.reload()
    await blocklist.reload()
  }
  write('old.example\n')
  const blocklist = await createBlocklist(path)
  const HTML = '<!doctype html>\n<html>\n<p>404: not found\n</html>\n'
  for (const broken of ['', HTML, 'a.example\n'.repeat(2) + HTML]) {
    write(broken)
    await look()
    expect([broken, blocks('https://old.example/'), blocks('https://a.example')]).toEqual([
      broken,
      true,
      false,
    ])
  }
  rmSync(path)
  await look()
  expect(blocks('https://old.example')).toBe(true)
  expect(blocklist.metrics().find(({ name }) => name.endsWith('_failed'))?.value).toBe(1)
  // A few lines that are no host do not make the list useless.
  write('::1 localhost ip6-localhost\n0.0.0.0 0.0.0.0\nnew.example\n??\n\r\nwindows.example\r\nlast.example')
  await blocklist.reload()
  expect(blocks('https://new.example')).toBe(false)
  await blocklist.reload()
  expect(['new', 'windows', 'last', 'old'].map((name) => blocks(`https://${name}.example`))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(blocks('http://localhost/')).toBe(false)
  expect(blocklist.metrics().map(({ value }) => value)).toEqual([3, 0])
  write('# nobody\n')
  await look()
  expect(blocks('https://new.example')).toBe(false)
})

test('a list that is missing or is no list stops the start, and so does a wrong ABUSE_EMAIL', async () => {
  const configure = (environment: Record<string, string>) =>
    readConfig({ DATA_DIR: join(dir, 'data'), LOG_LEVEL: 'silent', ...environment })
  for (const [environment, problem] of [
    [{ DESTINATION_BLOCKLIST: join(dir, 'nowhere.txt') }, /^DESTINATION_BLOCKLIST: .* cannot be read/],
    [{ DESTINATION_BLOCKLIST: dir }, /^DESTINATION_BLOCKLIST: .* is not a file/],
    [{ ABUSE_EMAIL: 'abuse at example.com' }, /^ABUSE_EMAIL: "abuse at example.com" is not an email address/],
  ] as const)
    expect(() => configure(environment)).toThrow(problem)
  const page = join(dir, 'page.html')
  writeFileSync(page, '<!doctype html>\n<title>Not found</title>\n')
  const config = configure({ DESTINATION_BLOCKLIST: page })
  await expect(openServices(config)).rejects.toThrow(
    /^DESTINATION_BLOCKLIST: .*page.html is not a list of hosts: line 1/,
  )
})
