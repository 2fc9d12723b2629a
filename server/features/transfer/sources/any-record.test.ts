import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { isCleanText } from '../../../lib/text.ts'
import { openSourceFile } from '../files/open-source-file.ts'
import { readRecords } from '../files/read-records.ts'
import { FileProblem, type FileRecord } from '../files/source-file.ts'
import { IMPORT_SOURCES } from '../schema.ts'
import { UTC } from './read-example.fixture.ts'
import { toClick, toLink } from './read-record.ts'
import type { ImportSource, Reading } from './source.ts'
import { findSource } from './source-list.ts'

const sources = IMPORT_SOURCES.map(findSource).filter(
  (source): source is ImportSource => source !== undefined,
)

/** Names that some source looks for, so that records have more than names that nobody knows. */
const NAMES = [
  'id',
  'domain',
  'key',
  'url',
  'Short link',
  'Destination URL',
  'link',
  'createdAt',
  'clicks',
  'tags',
  'geo',
  'proxy',
  'title',
  'expiresAt',
  'disabledAt',
  'testVariants',
  'event',
  'click',
  'timestamp',
  'Date',
  'Link',
  'shortCode',
  'shortUrl',
  'longUrl',
  'dateCreated',
  'meta',
  'visitsSummary',
  'redirectRules',
  'domain',
  'deviceLongUrls',
  'visitedUrl',
  'visitLocation',
  'potentialBot',
  'date',
  'referer',
  'type',
  'userAgent',
  'keyword',
  'ip',
  'click_time',
  'shorturl',
  'referrer',
  'user_agent',
  'ip_address',
  'country_code',
  'address',
  'target',
  'description',
  'created_at',
  'expire_in',
  'visit_count',
  'password',
  'banned',
  'uuid',
  'long_url',
  'custom_bitlinks',
  'archived',
  'slashtag',
  'destination',
  'originalURL',
  'path',
  'slug',
]

const someText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'https://acme.test/a',
      'go.acme.test/b',
      '2025-01-01T00:00:00Z',
      '5',
      'DE',
      'true',
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  // Half a character, and NUL.
  { weight: 1, arbitrary: fc.constantFrom('\ud800', 'a\0b', 'https://acme.test/%00%ff', '\udc00x') },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(300), 'x'.repeat(300_000)) },
)
const { value: someValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 4, arbitrary: someText },
    { weight: 2, arbitrary: fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: tie('object') },
  ),
  object: fc.dictionary(
    fc.constantFrom(
      ...NAMES,
      'conditions',
      'matchValue',
      'priority',
      'name',
      'toString',
      'valueOf',
      'toJSON',
      '__proto__',
    ),
    tie('value'),
    { maxKeys: 4 },
  ),
}))

/** As a JSON file has it. */
const jsonRecord: fc.Arbitrary<FileRecord> = fc
  .dictionary(fc.constantFrom(...NAMES), someValue, { maxKeys: 12 })
  .map((object) => ({ row: 1, table: null, fields: new Map(Object.entries(object)) }))

/** As a CSV file has it: columns known to nobody too, cells without a column, a broken row. */
const tableRecord: fc.Arbitrary<FileRecord> = fc
  .tuple(
    fc.uniqueArray(fc.oneof(fc.constantFrom(...NAMES), fc.string()), { maxLength: 12 }),
    fc.array(fc.option(someText), { maxLength: 12 }),
    fc.boolean(),
  )
  .map(([columns, cells, isBroken]) => ({
    row: 2,
    table: null,
    columns,
    fields: new Map(columns.map((column, index) => [column, cells[index] ?? null])),
    ...(isBroken && {
      problem: { field: '', value: null, message: 'The row has more cells than the header.' },
    }),
  }))

const folder = join(import.meta.dir, 'fixtures')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split('/'))
  .filter(([, name]) => name !== undefined && !name.endsWith('.md'))
  .map(([tool, name]) => ({ tool: tool as string, name: name as string }))

/** Records of the examples of a tool, with some of their fields overwritten. */
async function createDamaged(source: ImportSource): Promise<fc.Arbitrary<FileRecord>> {
  const records: FileRecord[] = []
  for (const { tool, name } of files.filter(({ tool }) => tool === source.name))
    for (const place of [source.links, ...(source.clicks ? [source.clicks] : [])])
      for await (const batch of readRecords(await openSourceFile(join(folder, tool, name), name), place))
        records.push(...batch)
  if (records.length === 0) return fc.oneof(jsonRecord, tableRecord)
  const damaged = fc
    .tuple(fc.constantFrom(...records), fc.array(fc.tuple(fc.nat(), someValue), { maxLength: 3 }))
    .map(([record, changes]) => {
      const fields = new Map(record.fields)
      for (const [at, value] of changes) {
        const name = [...fields.keys()][at % fields.size]
        if (name !== undefined) fields.set(name, value)
      }
      return { ...record, fields }
    })
  return fc.oneof({ weight: 4, arbitrary: damaged }, jsonRecord, tableRecord)
}

/** @returns null where the whole file would be refused, such as without a mapping */
function readLink(source: ImportSource, record: FileRecord) {
  try {
    return toLink(source, record, UTC)
  } catch (error) {
    if (error instanceof FileProblem) return null
    throw error
  }
}

/** Neither row engine takes NUL or half a character, wherever it stands. */
function findUnclean(value: unknown): string | undefined {
  if (typeof value === 'string') return isCleanText(value) ? undefined : value
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value)
    .flat()
    .map(findUnclean)
    .find((text) => text !== undefined)
}

function expectReading(reading: Reading<unknown>) {
  if (reading === null) return
  if ('value' in reading) {
    expect(findUnclean(reading.value)).toBeUndefined()
    return
  }
  expect(reading.problems.length).toBeGreaterThan(0)
  for (const { field, value, message } of reading.problems) {
    expect(message).toMatch(/^[A-Z].*\.$/)
    expect(isCleanText(field)).toBe(true)
    expect(value === null || (value.length <= 200 && isCleanText(value))).toBe(true)
  }
}

describe.each(sources.map((source) => [source.name, source] as const))('any record of %s', (_, source) => {
  let anyRecord: fc.Arbitrary<FileRecord>
  beforeAll(async () => {
    anyRecord = await createDamaged(source)
  })
  test('is a link, no link, or has problems with a column, a value and what to do', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const reading = readLink(source, record)
        expectReading(reading)
        if (record.problem) expect(reading).not.toHaveProperty('value')
        if (reading && 'value' in reading) {
          const { slug, destinationUrl, createdAt, clicks, left } = reading.value
          expect(destinationUrl).not.toBe('')
          expect(slug).not.toBe('')
          expect(left.every((words) => words.length <= 200)).toBe(true)
          expect(createdAt === null || Number.isSafeInteger(createdAt)).toBe(true)
          expect(clicks === null || clicks >= 0).toBe(true)
        }
      }),
      { numRuns: atScale({ full: 500, soak: 50_000 }) },
    )
  })

  test('is a click, no click, or has problems with a column, a value and what to do', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const reading = toClick(source, record, UTC)
        expectReading(reading)
        if (reading && 'value' in reading) {
          const { at, slug, sourceKey } = reading.value
          expect(at).toBeGreaterThan(0)
          expect(slug !== null || sourceKey !== null).toBe(true)
          expect(slug).not.toBe('')
        }
      }),
      { numRuns: atScale({ full: 500, soak: 50_000 }) },
    )
  })
})

test.each(files)('the example $tool/$name is claimed by one source', async ({ tool, name }) => {
  const { tables } = await openSourceFile(join(folder, tool, name), name)
  const owners = sources
    .filter((source) => source.name !== 'csv')
    .filter((source) =>
      tables.some(({ columns }) => source.isLinkFile(columns) || source.isClickFile?.(columns)),
    )
  expect(owners.map((source) => source.name as string)).toEqual(tool === 'csv' ? [] : [tool])
})
