import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { SqlReader } from './sql-reader.ts'

function read(text: string, tables = ['yourls_url'], cuts: number[] = []) {
  const reader = new SqlReader((name) => tables.includes(name))
  let start = 0
  for (const cut of [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    reader.write(text.slice(start, cut))
    start = cut
  }
  reader.end()
  return reader.records
}
const rowsOf = (text: string, tables?: string[], cuts?: number[]) =>
  read(text, tables, cuts).map(({ fields }) => [...fields.values()])

const CREATE = `DROP TABLE IF EXISTS \`yourls_url\`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE \`yourls_url\` (
  \`keyword\` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  \`url\` text NOT NULL, -- the destination; not (the) keyword
  \`clicks\` int(10) unsigned NOT NULL COMMENT 'a ''comment'', with (brackets);',
  PRIMARY KEY (\`keyword\`),
  KEY \`clicks\` (\`clicks\`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
`
const QUOTED: Record<string, string> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '\x1a': '\\Z',
}
const asMysqldump = (text: string) => `'${[...text].map((char) => QUOTED[char] ?? char).join('')}'`
const asPhpMyAdmin = (text: string) => `'${text.replace(/[\\]/g, '\\\\').replaceAll("'", "''")}'`
const asHex = (text: string) => (text === '' ? "''" : `0x${Buffer.from(text).toString('hex')}`)
const asBinary = (text: string) => `_binary ${asMysqldump(text)}`

const someText = fc.string({
  unit: fc.constantFrom(
    'a',
    "'",
    '"',
    '\\',
    ',',
    '(',
    ')',
    ';',
    '\n',
    '\r',
    '\0',
    '-- ',
    '#',
    '/*',
    'é',
    '😀',
    '`',
    '%',
  ),
  maxLength: 12,
})
const someValue = fc.oneof(
  fc.tuple(someText, fc.constantFrom(asMysqldump, asPhpMyAdmin, asHex, asBinary)).map(([text, write]) => ({
    text: text as string | null,
    sql: write(text),
  })),
  fc.integer().map((number) => ({ text: String(number), sql: String(number) })),
  fc.constant({ text: null, sql: 'NULL' }),
)
const someRows = fc.array(fc.tuple(someValue, someValue, someValue), { minLength: 1, maxLength: 6 })
const toTuple = (row: { sql: string }[]) => `(${row.map(({ sql }) => sql).join(',')})`

describe('an SQL dump', () => {
  test('has the rows that were written, in one statement or several, in pieces of any size', () => {
    fc.assert(
      fc.property(
        someRows,
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.nat()),
        (rows, isOne, hasColumns, cuts) => {
          const columns = hasColumns ? ' (`keyword`, `url`, `clicks`)' : ''
          const insert = `INSERT INTO \`yourls_url\`${columns} VALUES `
          const other = `INSERT INTO \`wp_posts\` VALUES ${rows.map(toTuple).join(',')};\n`
          const own = isOne
            ? `${insert}${rows.map(toTuple).join(',\n')};`
            : rows.map((row) => `${insert}${toTuple(row)};`).join('\n')
          const text = `-- MySQL dump 10.13\n\n${CREATE}${other}LOCK TABLES \`yourls_url\` WRITE;\n${own}\nUNLOCK TABLES;\n`
          expect(rowsOf(text, undefined, cuts)).toEqual(rows.map((row) => row.map(({ text }) => text)))
        },
      ),
      { numRuns: atScale({ full: 500, soak: 20_000 }) },
    )
  })

  test('names the columns by its CREATE TABLE, or by the INSERT', () => {
    const [first] = read(`${CREATE}INSERT INTO yourls_url VALUES ('a','b',1);`)
    expect([...(first?.fields ?? [])]).toEqual([
      ['keyword', 'a'],
      ['url', 'b'],
      ['clicks', '1'],
    ])
    const [second] = read("REPLACE INTO `db`.`yourls_url` (`url`,`keyword`) VALUES ('b' , 'a') ;")
    expect([...(second?.fields ?? [])]).toEqual([
      ['url', 'b'],
      ['keyword', 'a'],
    ])
  })

  test('without either is refused, and so is one that ends too early', () => {
    expect(() => read("INSERT INTO yourls_url VALUES ('a','b',1);")).toThrow('Export it with its structure.')
    const text = `${CREATE}INSERT INTO yourls_url VALUES ('a','b',1),('c','d',2);`
    for (let end = CREATE.length + 1; end < text.length; end++)
      expect(() => read(text.slice(0, end))).toThrow('The SQL dump ends in the middle of a statement.')
  })

  test('has a row with too many values named', () => {
    const [record] = read(`${CREATE}INSERT INTO yourls_url VALUES ('a','b',1,2);`)
    expect(record?.problem?.message).toContain('The row has 4 values, and the table 3 columns.')
  })

  test.each([
    ["INSERT INTO yourls_url (a) VALUES ('x' 'y');", 'The SQL dump is broken at row 1'],
    ["INSERT INTO yourls_url (a) VALUES 'x';", 'The SQL dump is broken at row 1'],
    [`INSERT INTO yourls_url (a) VALUES ('${'x'.repeat(9 * 1024 * 1024)}`, 'is longer than 4 MiB'],
  ])('is refused: %#', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test('takes expressions and other literals as they are', () => {
    const text = "INSERT INTO yourls_url (a,b,c,d,e) VALUES (NOW(), x'41', -1.5e3, TRUE, 0xFF);"
    expect(rowsOf(text)).toEqual([['NOW()', 'A', '-1.5e3', 'TRUE', '0xFF']])
  })

  test('of SQLite has texts of several lines as calls, and its backslashes are characters', () => {
    const dump = (value: string) => {
      const reader = new SqlReader(() => true, true)
      reader.write(`INSERT OR REPLACE INTO "yourls_url" (a,b) VALUES(${value},'\\');`)
      reader.end()
      return [...(reader.records[0]?.fields.values() ?? [])]
    }
    const nested = (depth: number) => `${'char('.repeat(depth)}65${')'.repeat(depth)}`
    for (const [value, text] of [
      ["replace('a\\nb','\\n',char(10))", 'a\nb'],
      ["replace(replace('it''s\\r\\n','\\r',char(13)),'\\n',char(10))", "it's\r\n"],
      ["unistr('a\\u000a\\\\\\U0001F600')", 'a\n\\😀'],
      ["unistr('\\UFFFFFFFF')", '\\UFFFFFFFF'],
      ["replace('a','b')", "replace('a','b')"],
      ['CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP'],
      [nested(1), 'A'],
      [nested(50_000), nested(50_000)],
    ] as const)
      expect(dump(value)).toEqual([text, '\\'])
  })

  test('of another tool has no rows', () => {
    expect(
      rowsOf("INSERT INTO `wp_posts` VALUES (1,'it''s; (here'),(2,'-- '); INSERT INTO curl VALUES (1);"),
    ).toEqual([])
  })
})
