import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, createGzip, gzipSync } from 'node:zlib'
import { atScale, full } from '../../../../tests/support/suite.ts'
import { openSourceFile } from './open-source-file.ts'
import { readRecords } from './read-records.ts'
import type { FileRecord, SourceFile } from './source-file.ts'

const directory = await mkdtemp(join(tmpdir(), 'source-file-'))
afterAll(() => rm(directory, { recursive: true }))

let files = 0
async function store(content: Uint8Array | string): Promise<string> {
  const path = join(directory, String(files++))
  await writeFile(path, content)
  return path
}

async function read(content: Uint8Array | string): Promise<{ file: SourceFile; records: FileRecord[] }> {
  const file = await openSourceFile(await store(content), 'links')
  const batches = await Array.fromAsync(readRecords(file, { lists: ['links'], tables: ['url'] }))
  for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(500)
  return { file, records: batches.flat() }
}

const rowsOf = (records: FileRecord[]) => records.map(({ fields }) => Object.fromEntries(fields))

const TABLE = 'slug,url,title\r\na,https://example.com/?x=1,"Größe, ""groß"""\r\nb,https://example.com/2,\r\n'
const ROWS = [
  { slug: 'a', url: 'https://example.com/?x=1', title: 'Größe, "groß"' },
  { slug: 'b', url: 'https://example.com/2', title: '' },
]
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const windows = (text: string) => Buffer.from(text, 'latin1')

describe('an uploaded file', () => {
  test.each([
    ['UTF-8', Buffer.from(TABLE), 'utf-8', false],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TABLE}`), 'utf-8', false],
    ['UTF-16 LE', utf16(TABLE), 'utf-16le', false],
    ['UTF-16 LE with a mark', utf16(`\ufeff${TABLE}`), 'utf-16le', false],
    ['UTF-16 BE with a mark', utf16(`\ufeff${TABLE}`).swap16(), 'utf-16be', false],
    ['Windows-1252', windows(TABLE), 'windows-1252', false],
    ['gzip', gzipSync(TABLE), 'utf-8', true],
    [
      'gzip of two members',
      Buffer.concat([gzipSync(TABLE.slice(0, 20)), gzipSync(TABLE.slice(20))]),
      'utf-8',
      true,
    ],
    ['gzip of UTF-16', gzipSync(utf16(TABLE)), 'utf-16le', true],
    ['lines of LF, semicolons', TABLE.replaceAll('\r', '').replace(/,(?! )/g, ';'), 'utf-8', false],
  ] as const)('is read as CSV: %s', async (_, content, encoding, gzipped) => {
    const { file, records } = await read(content)
    expect(rowsOf(records)).toEqual(ROWS)
    expect(records.map(({ row }) => row)).toEqual([2, 3])
    expect(file).toMatchObject({ format: 'csv', encoding, gzipped, columns: ['slug', 'url', 'title'] })
  })

  test.each([
    ['a list', JSON.stringify(ROWS), null],
    ['a list in UTF-16', utf16(JSON.stringify(ROWS)), null],
    ['a list under a key', JSON.stringify({ version: '1', links: ROWS }), 'links'],
    ['lists of lists', JSON.stringify({ data: { links: ROWS } }), 'links'],
    ['lines', ROWS.map((row) => JSON.stringify(row)).join('\n'), null],
    ['gzip of lines', gzipSync(`${ROWS.map((row) => JSON.stringify(row)).join('\n')}\n`), null],
  ] as const)('is read as JSON: %s', async (_, content, name) => {
    const { file, records } = await read(content)
    expect(rowsOf(records)).toEqual(ROWS)
    expect(file.format).toBe('json')
    expect(file.tables[0]).toEqual({ name, columns: ['slug', 'url', 'title'] })
    expect(file.columns).toEqual(['slug', 'url', 'title'])
  })

  test('is read as an SQL dump, and says which tables it has', async () => {
    const { file, records } = await read(
      "-- dump\nSET NAMES utf8mb4;\nCREATE TABLE `yourls_log` (`click_id` int, `shorturl` varchar(100));\nINSERT INTO `yourls_log` VALUES (1,'a');\n" +
        "CREATE TABLE `yourls_url` (`slug` varchar(100), `url` text, `title` text);\nINSERT INTO `yourls_url` VALUES ('a','https://example.com/?x=1','Größe, \\\"groß\\\"'),('b','https://example.com/2','');\n",
    )
    expect(rowsOf(records)).toEqual(ROWS)
    expect(records[0]?.table).toBe('yourls_url')
    expect(file.tables).toEqual([
      { name: 'yourls_log', columns: ['click_id', 'shorturl'] },
      { name: 'yourls_url', columns: ['slug', 'url', 'title'] },
    ])
  })

  test('keeps formulas as text', async () => {
    const { records } = await read('url,title\nhttps://example.com,=HYPERLINK("https://evil.example")\n')
    expect(rowsOf(records)).toEqual([
      { url: 'https://example.com', title: '=HYPERLINK("https://evil.example")' },
    ])
  })

  test('with no more than a header has no records', async () => {
    const { file, records } = await read('slug,url')
    expect([file.columns, records]).toEqual([['slug', 'url'], []])
  })

  const LONG = 'x'.repeat(9 * 1024 ** 2)
  const manyRows = 'a,https://example.com,Größe\n'.repeat(20_000)
  test.each([
    ['empty', '', 'The file is empty.'],
    ['blank', ' \r\n\n', 'The file is empty.'],
    ['a mark only', '\ufeff', 'The file is empty.'],
    ['an empty gzip file', gzipSync(''), 'The file is empty.'],
    [
      'a quote that stays open',
      'a,b\n1,"2\n3,4\n',
      'The file ends inside a quoted cell of row 2. Is it complete?',
    ],
    [
      'JSON that stops',
      '{"links":[{"url":"https://exa',
      'The file ends in the middle of record 1. Is it complete?',
    ],
    [
      'a dump that stops',
      "CREATE TABLE url (slug text);\nINSERT INTO url VALUES ('a'),('b'",
      'The SQL dump ends in the middle of a statement. Is the file complete?',
    ],
    [
      'a gzip file that stops',
      gzipSync(manyRows).subarray(0, -20),
      'The gzip file ends too early. Copy it again: a part of it is missing.',
    ],
    [
      'a gzip file with a wrong byte',
      flip(gzipSync(crypto.getRandomValues(new Uint8Array(2_000)))),
      'The gzip file is damaged. Pack it again, or send it unpacked.',
    ],
    [
      'gzip in gzip',
      gzipSync(gzipSync(TABLE)),
      'This is a packed file. An import reads CSV, JSON, SQL dumps and zip files.',
    ],
    [
      'a workbook',
      zipOf('[Content_Types].xml'),
      'This is a spreadsheet. Save it as CSV (UTF-8), and import that.',
    ],
    ['a PDF', '%PDF-1.7\n', 'This is a PDF. An import reads CSV, JSON, SQL dumps and zip files.'],
    [
      'a web page',
      '<!DOCTYPE html><html>',
      'This is a web page or XML. Export CSV or JSON, and import that.',
    ],
    [
      'NUL',
      `slug,url,title\n${manyRows}a,\0,b\n`,
      'Row 20002 has a NUL character. Remove it, or save the file as text.',
    ],
    [
      'a byte that is no UTF-8',
      Buffer.concat([Buffer.from(`slug,url,title\n${manyRows}a,b,`), Buffer.from([0xe9, 0x0a])]),
      'Row 20002: byte 0xE9 is no UTF-8. Save the file as UTF-8.',
    ],
    [
      'half a character at the end',
      Buffer.concat([Buffer.from('slug,title\na,Größe\nb,Gr'), Buffer.from([0xc3])]),
      'Row 3: byte 0xC3 is no UTF-8. Save the file as UTF-8.',
    ],
    [
      'a byte that is no Windows-1252',
      windows(`slug,url,title\n${manyRows}a,b,\x81\n`),
      'Row 20002: byte 0x81 is no Windows-1252. Save the file as UTF-8.',
    ],
    [
      'half of a UTF-16 character',
      utf16(`slug,title\na,${'Größe'.repeat(99)}\n`).subarray(0, -1),
      'Row 2: byte 0x0A is no UTF-16 LE. Save the file as UTF-8.',
    ],
    [
      'a million columns',
      `${'a,'.repeat(1_000_000)}\n`,
      'Row 1 has more than 1000 columns. Is this a CSV file?',
    ],
    [
      'a long SQL text',
      `INSERT INTO url (a) VALUES ('${LONG}`,
      'Row 1 of the SQL dump is longer than 4 MiB.',
    ],
    [
      'a long SQL comment',
      `CREATE TABLE url (a text);\n/*${LONG}`,
      'Row 1 of the SQL dump is longer than 4 MiB.',
    ],
    ['deep JSON', '['.repeat(1_000_000), 'Record 1 is nested deeper than 64 levels.'],
  ])('is refused with a sentence: %s', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
  })
})

/** A byte in the middle changes. */
function flip(bytes: Buffer): Buffer {
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 0xff
  return bytes
}

/** The start of a zip file with one entry. */
function zipOf(name: string): Buffer {
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04', 'latin1')
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, Buffer.from(name)])
}

const MIB = 1024 * 1024

full.describe('the memory that reading takes', () => {
  async function measure(path: string) {
    const script = join(import.meta.dir, 'read-file.fixture.ts')
    const child = Bun.spawn([process.execPath, script, path], { stdout: 'pipe', stderr: 'inherit' })
    const result = (await new Response(child.stdout).json()) as Record<'records' | 'peakBytes', number> & {
      problem: string | null
    }
    return result
  }

  /** A file of pieces, gzipped: a bomb of gigabytes is a file of megabytes. */
  async function pack(start: string, piece: string, times: number): Promise<string> {
    const path = join(directory, String(files++))
    const gzip = createGzip({ level: constants.Z_DEFAULT_COMPRESSION })
    const stored = Bun.write(path, new Response(gzip as unknown as ReadableStream))
    gzip.write(start)
    for (let count = 0; count < times; count++) {
      if (!gzip.write(piece)) await new Promise((resolve) => gzip.once('drain', resolve))
    }
    gzip.end()
    await stored
    return path
  }

  const times = atScale({ full: 60, soak: 10_000 })
  const row = (id: number) => `2025-11-03T16:05:06Z,Mozilla/5.0 (X11; Linux),https://example.com/${id}\n`
  const json = (id: number) => `{"id":${id},"url":"https://example.com/${id}","tags":["a","b"]}\n`
  const tuple = (id: number) => `('k${id}','https://example.com/${id}','It\\'s a title'),`
  const list = (write: (id: number) => string) =>
    Array.from({ length: 10_000 }, (_, id) => write(id)).join('')

  test.each([
    ['CSV', 'date,agent,url\n', list(row)],
    ['JSON', '', list(json)],
    [
      'SQL',
      'CREATE TABLE url (a text, b text, c text);\n',
      `INSERT INTO url VALUES ${list(tuple).slice(0, -1)};\n`,
    ],
  ])('is that of its pieces: %s', async (_, start, piece) => {
    const [small, large] = [
      await measure(await pack(start, piece, 4)),
      await measure(await pack(start, piece, times)),
    ]
    expect([small.records, large.records, large.problem]).toEqual([40_000, times * 10_000, null])
    expect(large.peakBytes).toBeLessThan(2 * small.peakBytes)
    expect(large.peakBytes).toBeLessThan(256 * MIB)
  })

  const megabyte = 'x'.repeat(MIB)
  test.each([
    [
      'a line of 64 MiB',
      'a,b\n',
      megabyte,
      64,
      'Row 2 is longer than 4 MiB. An unclosed quote may be the cause.',
    ],
    [
      'a cell of 64 MiB',
      'a,b\n1,"',
      megabyte,
      64,
      'Row 2 is longer than 4 MiB. An unclosed quote may be the cause.',
    ],
    [
      'a JSON text of 64 MiB',
      '[{"a":"',
      megabyte,
      64,
      'Record 1 is longer than 1 MiB. Is this a list of links?',
    ],
    ['a JSON key of 64 MiB', '{"', megabyte, 64, 'Record 1 is longer than 1 MiB. Is this a list of links?'],
    [
      'an SQL text of 64 MiB',
      "INSERT INTO url (a) VALUES ('",
      megabyte,
      64,
      'Row 1 of the SQL dump is longer than 4 MiB.',
    ],
    [
      'an SQL comment of 64 MiB',
      'CREATE TABLE url (a text);\n/*',
      megabyte,
      64,
      'Row 1 of the SQL dump is longer than 4 MiB.',
    ],
    [
      'a bomb',
      'a,b\n',
      `${'x'.repeat(4094)},\n`.repeat(256),
      256,
      'The gzip file unpacks to more than 200 times its size. Unpack it, and send what is in it.',
    ],
  ])('is bounded for %s', async (_, start, piece, times, message) => {
    const { problem, peakBytes } = await measure(await pack(start, piece, times))
    expect(problem).toBe(message)
    expect(peakBytes).toBeLessThan(256 * MIB)
  })
})
