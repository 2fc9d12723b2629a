// Bad uploads: each bad file is refused with a sentence and changes nothing, each bad row is named with its column, its
// value and what to do, and nothing makes a 5xx.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ZipFile } from 'yazl'
import {
  call,
  type ImportAnswer,
  type ImportTarget,
  type ImportUpload,
  sendImport,
  uploadAndRun,
  waitForEnd,
} from '../support/imports/upload-client.ts'
import { destroyRawClients, dialRaw, readStatuses } from '../support/raw-client.ts'
import { readAllRows } from '../support/readers/read-all-rows.ts'
import { addVerifiedDomain } from '../support/server/verified-domain.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(180_000)

const MIB = 1024 * 1024
/** Imports themselves, and what changes without a request. */
const IGNORED_TABLES =
  /^(imports|event_marks|import_rows|audit_log|audit_events|leases|nodes|rate_limits|rate_windows|visitor_salts|internal_visitors|kysely_migration(_lock)?|sqlite_\w+)$/

const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
const blocklist = join(dir, 'blocked-hosts.txt')
writeFileSync(blocklist, 'bad.example\n')

let server: TestServer
let own: TestWorkspace
let other: TestWorkspace
let target: ImportTarget
beforeAll(async () => {
  server = await startServer('sqlite', {
    environment: { TOWPATH_URL: 'https://go.example', DESTINATION_BLOCKLIST: blocklist },
  })
  own = await server.createWorkspace()
  other = await server.createWorkspace()
  target = { origin: server.origin, key: own.key }
  await addVerifiedDomain(server, own.id, 'links.acme.example')
  await addVerifiedDomain(server, other.id, 'links.other.example')
  await own.createLink({ slug: 'here', title: 'Was here' })
}, 120_000)
afterAll(async () => {
  destroyRawClients()
  await server?.close()
  rmSync(dir, { recursive: true, force: true })
})

type Bytes = string | Uint8Array
const toFile = (bytes: Bytes, name = 'links.csv') => new File([bytes as never], name)
const readRows = () => readAllRows(server, IGNORED_TABLES)

const HEADER = 'slug,destinationUrl,title'
const GOOD = `${HEADER}\ngood,https://acme.example/,Good\n`

/** A file that nothing is imported of. @returns the sentence that says why */
async function expectRefused(upload: ImportUpload): Promise<string> {
  const before = await readRows()
  const { status, text, json } = await sendImport(target, upload)
  let sentence: string
  if (status === 202) {
    const ended = await waitForEnd(target, json.data.id)
    expect({ ...ended, errors: [] }).toMatchObject({ status: 'failed', created: 0, clicks: 0 })
    sentence = ended.problem ?? ''
  } else {
    expect([text, [400, 413, 415, 422].includes(status)]).toEqual([text, true])
    sentence = json.error
  }
  expect(sentence).toMatch(/^.{10,}/)
  expect(await readRows()).toEqual(before)
  return sentence
}

/** A file whose rows are refused one by one. @returns the errors */
async function expectRowErrors(text: Bytes, fields: Record<string, unknown> = {}) {
  const ended = await uploadAndRun(target, {
    fields: { source: 'csv', dryRun: true, ...fields },
    file: toFile(text),
  })
  expect(ended).toMatchObject({ status: 'done', problem: null })
  for (const { row, field, message } of ended.errors) {
    expect(row).toBeGreaterThan(1)
    expect(field).not.toBe('')
    expect(message.length).toBeGreaterThan(10)
  }
  return ended
}

describe('a bad file changes nothing', () => {
  const cut = (text: string) => text.slice(0, -7)
  const json = JSON.stringify({
    version: '1.0',
    links: Array.from({ length: 50 }, (_, i) => ({ slug: `s${i}`, url: `https://acme.example/${i}` })),
  })
  const dump =
    "INSERT INTO `yourls_url` VALUES ('a','https://acme.example/a','A','2024-01-01 00:00:00','192.0.2.1',3),('b','https://acme"

  test.each([
    ['that is empty', 'csv', ''],
    ['with white space only', 'csv', ' \n \n\n'],
    ['with a header and nothing else', 'dub', 'Nothing,Known\n'],
    ['that ends within quotes', 'csv', `${GOOD}cut,https://acme.example/,"no end`],
    ['of JSON that is cut', 'sink', cut(json)],
    ['of JSON with text behind it', 'sink', `${json}}}`],
    ['of SQL that is cut', 'yourls', dump],
    ['that is no zip', 'towpath', GOOD],
    [
      'that is a web page',
      'csv',
      '<!doctype html><html><body><p>Sign in to export your links</p></body></html>',
    ],
    [
      'that is an image',
      'csv',
      new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]),
    ],
    ['of random bytes', 'csv', new Uint8Array(20_000).map((_, i) => (i * 7919 + (i >> 3)) % 256)],
    ['with a NUL character', 'csv', `${GOOD}d\u0000,https://acme.example/,Title\n`],
    ['of another tool', 'rebrandly', 'date,userAgent,referer\n2024-01-01,Firefox,x.example\n'],
    ['without a column for the destination', 'csv', 'slug,title\nspring,Spring\n'],
  ])('%s', async (_, source, bytes) => {
    await expectRefused({ fields: { source }, file: toFile(bytes as Bytes) })
  })

  const links = 'Short link,Destination URL\nhttps://dub.sh/a,https://acme.example/\n'
  const clicks = 'Date,Event,Link\n2024-01-01T00:00:00Z,Click,https://dub.sh/a\n'
  test.each([
    ['links that are clicks', clicks, undefined, 'This is the click history of Dub.'],
    ['clicks that are links', links, links, 'The second file has the links of Dub.'],
    ['an empty list', '[]', undefined, 'This is not a list of links from Dub. It has no rows.'],
    [
      'clicks that are an empty list',
      links,
      '[]',
      'The second file is not a click history from Dub. It has no rows.',
    ],
  ])('with %s, and the sentence says what it is', async (_, file, second, sentence) => {
    const upload = {
      fields: { source: 'dub' },
      file: toFile(file),
      ...(second && { clicks: toFile(second) }),
    }
    expect(await expectRefused(upload)).toStartWith(sentence)
  })

  test('that is our own export, whose passwords and rules CSV has no place for', async () => {
    const own =
      'shortUrl,destinationUrl,passwordProtected,clicksBefore\nhttps://a.example/b,https://acme.example/,true,0\n'
    expect(await expectRefused({ fields: { source: 'csv' }, file: toFile(own) })).toBe(
      'This is not a list of links from CSV. It looks like one from Towpath: choose that source.',
    )
  })

  test('whose dates can be read in two ways, and the sentence says what to add', async () => {
    const text =
      'slug,destinationUrl,createdAt\na,https://acme.example/,03/04/2025\nb,https://acme.example/,05/06/2025\n'
    expect(await expectRefused({ fields: { source: 'csv' }, file: toFile(text) })).toMatch(/dateOrder/)
    for (const [dateOrder, month] of [
      ['dmy', '2025-04-03'],
      ['mdy', '2025-03-04'],
    ] as const) {
      const workspace = await server.createWorkspace()
      const there = { origin: server.origin, key: workspace.key }
      const fields = { source: 'csv', dateOrder, onConflict: 'rename' }
      expect(await uploadAndRun(there, { fields, file: toFile(text) })).toMatchObject({
        status: 'done',
        created: 2,
      })
      const { json: list } = await call(there, '/links?sort=createdAt&order=asc')
      expect(list.data[0].createdAt).toStartWith(month)
    }
  })

  full('with a conflict where onConflict is fail', async () => {
    const text = `${GOOD}here,https://acme.example/,Taken\n`
    const sentence = await expectRefused({
      fields: { source: 'csv', onConflict: 'fail' },
      file: toFile(text),
    })
    expect(sentence).toContain('here')
  })
})

describe('a bomb', () => {
  const zipOf = async (entries: Record<string, Buffer>) => {
    const zip = new ZipFile()
    for (const [name, bytes] of Object.entries(entries)) zip.addBuffer(bytes, name)
    zip.end()
    return new Uint8Array(await new Response(zip.outputStream as never).arrayBuffer())
  }
  const ZEROS = Buffer.alloc(atScale({ full: 64, soak: 512 }) * MIB)

  test('of zip is refused', async () => {
    const bytes = await zipOf({ 'manifest.json': ZEROS, 'links.ndjson': ZEROS })
    await expectRefused({ fields: { source: 'towpath' }, file: toFile(bytes, 'workspace.zip') })
  })

  test('of zip under the name of another tool is refused', async () => {
    const bytes = await zipOf({ 'links.csv': ZEROS })
    await expectRefused({ fields: { source: 'csv' }, file: toFile(bytes, 'links.zip') })
  })

  test('of gzip is refused', async () => {
    await expectRefused({ fields: { source: 'csv' }, file: toFile(gzipSync(ZEROS), 'links.csv.gz') })
  })

  test('of entries that leave their directory writes nothing there', async () => {
    const bytes = await zipOf({ 'manifest.json': Buffer.from('{}'), 'aa/aa/evil.txt': Buffer.from('x') })
    const text = Buffer.from(bytes).toString('latin1').replaceAll('aa/aa/', '../../')
    await expectRefused({
      fields: { source: 'towpath' },
      file: toFile(Buffer.from(text, 'latin1'), 'workspace.zip'),
    })
  })
})

describe('an upload', () => {
  const BOUNDARY = 'x-boundary'
  const part = (name: string, text: string, file?: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file ? `; filename="${file}"` : ''}\r\n\r\n${text}\r\n`
  const END = `--${BOUNDARY}--\r\n`
  const port = () => Number(new URL(server.origin).port)
  const head = (...lines: string[]) =>
    [
      'POST /v1/imports HTTP/1.1',
      'Host: go.example',
      `Authorization: Bearer ${own.key}`,
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
      ...lines,
      '',
      '',
    ].join('\r\n')

  test('over 64 MiB is refused with 413, and leaves no file', async () => {
    const { status, json } = await sendImport(target, {
      fields: { source: 'csv' },
      file: new File([new Uint8Array(64 * MIB + 1)], 'links.csv'),
    })
    expect([status, json.error]).toEqual([413, expect.stringMatching(/64 MiB/)])
  })

  test('that is chunked and has no end is refused with 413', async () => {
    const before = await readRows()
    const client = await dialRaw(port())
    client.socket.write(head('Transfer-Encoding: chunked'))
    const send = (bytes: Buffer | string) => {
      client.socket.write(`${bytes.length.toString(16)}\r\n`)
      client.socket.write(bytes)
      return client.socket.write('\r\n')
    }
    send(part('source', 'csv') + part('file', '', 'links.csv').slice(0, -2))
    const block = Buffer.alloc(MIB, 'x')
    await until('an answer to a body without an end', async () => {
      if (client.ended || client.text !== '') return true
      while (client.socket.writableLength < 16 * MIB) send(block)
      return false
    })
    expect(readStatuses(client.text)).toEqual([413])
    client.socket.destroy()
    expect(await readRows()).toEqual(before)
  })

  test('whose Content-Length promises less than it has, or more, changes nothing', async () => {
    const before = await readRows()
    const body = part('source', 'csv') + part('file', GOOD, 'links.csv') + END
    const less = await dialRaw(port())
    less.socket.write(head(`Content-Length: ${body.length - 40}`, 'Connection: close') + body)
    await until('an answer', () => less.ended)
    expect(readStatuses(less.text)[0]).toBeWithin(400, 500)
    const more = await dialRaw(port())
    more.socket.write(head(`Content-Length: ${body.length + 40}`) + body)
    more.socket.destroy()
    const huge = await dialRaw(port())
    huge.socket.write(head('Content-Length: 99999999999999', 'Connection: close') + body)
    await until('an answer', () => huge.ended || huge.text !== '')
    expect(readStatuses(huge.text)[0]).toBe(413)
    huge.socket.destroy()
    expect(await readRows()).toEqual(before)
  })

  test.each([
    ['without a file', part('source', 'csv') + END],
    ['without a source', part('file', GOOD, 'links.csv') + END],
    ['with a source that nobody knows', part('source', 'tinyurl') + part('file', GOOD, 'links.csv') + END],
    [
      'with a field that nobody knows',
      part('source', 'csv') + part('colour', 'red') + part('file', GOOD, 'l.csv') + END,
    ],
    [
      'with two files of one name',
      part('source', 'csv') + part('file', GOOD, 'a.csv') + part('file', GOOD, 'b.csv') + END,
    ],
    [
      'whose mapping is no JSON',
      part('source', 'csv') + part('mapping', '{x') + part('file', GOOD, 'l.csv') + END,
    ],
    [
      'whose domainMap leads to a domain of others',
      part('source', 'csv') +
        part('domainMap', '{"bit.ly":"links.other.example"}') +
        part('file', GOOD, 'l.csv') +
        END,
    ],
    ['whose boundary never comes', part('source', 'csv') + part('file', GOOD, 'links.csv')],
    ['with a path as its name', part('source', 'nothing') + part('file', GOOD, '../../../etc/passwd') + END],
    ['that has no parts', ''],
  ])('%s is refused at that field', async (_, body) => {
    const before = await readRows()
    const { status, text } = await call(target, '/imports', {
      method: 'POST',
      body,
      headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
    })
    expect([text, status >= 400 && status < 500]).toEqual([text, true])
    expect(await readRows()).toEqual(before)
  })
})

describe('a bad row is named with its column, its value and what to do', () => {
  test('for destinations that no link may have', async () => {
    const destinations = [
      'javascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:x',
      'file:///etc/passwd',
      ' java\tscript:alert(1)',
      'https://user:password@acme.example/',
      'not a url',
      '',
      'https://go.example/spring',
      'https://links.acme.example/x',
      'https://links.other.example/x',
      'https://bad.example/',
      `https://acme.example/${'x'.repeat(9_000)}`,
    ]
    const rows = destinations.map((destination, i) => `s${i},"${destination}",Title`)
    const ended = await expectRowErrors([HEADER, ...rows, 'good,https://acme.example/,Good', ''].join('\n'))
    expect(ended).toMatchObject({ rows: destinations.length + 1, created: 1, failed: destinations.length })
    for (const [i, destination] of destinations.entries()) {
      const { field, value } = ended.errors.find(({ row }) => row === i + 2) ?? {}
      expect([i, field]).toEqual([i, 'destinationUrl'])
      if (destination) expect(destination.trim()).toStartWith((value ?? '?').trim().slice(0, 100))
    }
  })

  test('for slugs that no link may have', async () => {
    const reserved = ['app', 'v1', 'docs/x', 'App']
    const refused = [
      'a b',
      'a?b',
      'x'.repeat(200),
      'a//b',
      'a/../x',
      '<script>',
      'a/b/c/d/e/f/g/h/i',
      'p\u0430y',
    ]
    const rows = [...reserved, ...refused].map((slug) => `"${slug}",https://acme.example/,Title`)
    const ended = await expectRowErrors([HEADER, ...rows, 'fine,https://acme.example/,Good', ''].join('\n'))
    expect(ended.created + ended.failed + ended.skipped).toBe(rows.length + 1)
    const failed = new Map(ended.errors.map(({ row, field, value }) => [row, [field, value]]))
    const wanted = refused.map((slug, i) => [i + 2 + reserved.length, ['slug', slug]] as const)
    expect(wanted.filter(([row, [field]]) => failed.get(row)?.[0] !== field)).toEqual([])
    const { json } = await call(target, `/imports/${ended.id}/rows?limit=100`)
    const became = json.data.map(({ row, outcome, message }: Record<string, unknown>) => [
      row,
      outcome,
      message,
    ])
    for (const [i] of reserved.entries())
      expect(became).toContainEqual([
        i + 2,
        expect.stringMatching(/skipped|failed/),
        expect.stringMatching(/reserved/i),
      ])
  })

  test('for times that are none, and rows that are too short', async () => {
    const ended = await expectRowErrors(
      'slug,destinationUrl,createdAt\n' +
        'a,https://acme.example/,yesterday\n' +
        'b\n' +
        'c,https://acme.example/,2025-02-31\n' +
        'fine,https://acme.example/,2025-02-01\n',
    )
    expect(ended.errors.map(({ row }) => row)).toEqual([2, 3, 4])
    expect(ended.created).toBe(1)
  })

  test('formulas stay as they are, and are inert in every CSV that leaves', async () => {
    const there = await server.createWorkspace()
    const at = { origin: server.origin, key: there.key }
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("http://x.example")']
    const rows = formulas.map(
      (formula, i) => `f${i},https://acme.example/,"${formula.replaceAll('"', '""')}"`,
    )
    const bad = '=cmd,"=javascript:alert(1)",x'
    const text = [HEADER, ...rows, bad, ''].join('\n')
    const ended = await uploadAndRun(at, { fields: { source: 'csv' }, file: toFile(text) })
    expect(ended).toMatchObject({ created: formulas.length, failed: 1 })
    const { json: list } = await call(at, '/links?sort=slug&order=asc')
    expect(list.data.map(({ title }: { title: string }) => title)).toEqual(formulas)
    for (const path of [`/imports/${ended.id}/errors`, '/links/export?format=csv']) {
      const { status, text: csv } = await call(at, path)
      expect(status).toBe(200)
      const cells = csv.split(/\r?\n|,/).map((cell) => cell.replace(/^"/, ''))
      expect([path, cells.filter((cell) => /^[=+@\t\r]|^-\d/.test(cell))]).toEqual([path, []])
    }
  })

  full('a thousand errors are in the answer, and all of them in the CSV', async () => {
    const text = [HEADER, ...Array.from({ length: 1_500 }, (_, i) => `s${i},javascript:${i},x`), ''].join(
      '\n',
    )
    const ended = await expectRowErrors(text)
    expect([ended.failed, ended.errors.length]).toEqual([1_500, 1_000])
    const { text: csv } = await call(target, `/imports/${ended.id}/errors`)
    expect(csv.trim().split('\n')).toHaveLength(1_501)
  })
})

describe('a workspace sees only its own imports', () => {
  let theirs: ImportAnswer
  beforeAll(async () => {
    const at = { origin: server.origin, key: other.key }
    theirs = await uploadAndRun(at, {
      fields: { source: 'csv', dryRun: true },
      file: toFile(`${GOOD}bad,javascript:secret,Secret\n`),
    })
  })

  test.each([
    ['GET', ''],
    ['GET', '/rows'],
    ['GET', '/errors'],
    ['DELETE', ''],
  ])("%s %s of another's import answers as of none", async (method, path) => {
    const ask = (id: number) => call(target, `/imports/${id}${path}`, { method })
    const [found, none] = [await ask(theirs.id), await ask(999_999_999)]
    expect([found.status, found.text]).toEqual([404, none.text])
  })

  test("another's dry run is no file to import from", async () => {
    const ask = (from: number) =>
      call(target, '/imports', {
        method: 'POST',
        body: JSON.stringify({ source: 'csv', from }),
        headers: { 'Content-Type': 'application/json' },
      })
    const [found, none] = [await ask(theirs.id), await ask(999_999_999)]
    expect([found.status, found.text.replace(/\d+/g, '')]).toEqual([
      none.status,
      none.text.replace(/\d+/g, ''),
    ])
    expect(found.status).toBeWithin(400, 500)
    const { json } = await call(target, '/imports')
    expect(json.data.map(({ id }: ImportAnswer) => id)).not.toContain(theirs.id)
  })

  full('links of one tool in two workspaces have nothing to do with each other', async () => {
    const both = [await server.createWorkspace(), await server.createWorkspace()]
    for (const { key } of both) {
      const file = toFile('destinationUrl,title\nhttps://acme.example/same,Same\n')
      const ended = await uploadAndRun({ origin: server.origin, key }, { fields: { source: 'csv' }, file })
      expect(ended).toMatchObject({ created: 1, skipped: 0 })
    }
  })
})
