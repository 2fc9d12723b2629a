import { expect, test } from 'bun:test'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import type { FileRecord } from '../files/source-file.ts'
import { toLinkInput } from '../import/to-link-input.ts'
import { IMPORT_SOURCES } from '../schema.ts'
import { toClickKeys } from './deduplication-keys.ts'
import { UTC } from './read-example.fixture.ts'
import { toClick, toLink } from './read-record.ts'
import { findSource } from './source-list.ts'

/** A record that nearly every source takes for a link or a click, by the names that it looks for. */
const BASE: Record<string, unknown> = {
  url: 'https://x.test/',
  'Destination URL': 'https://x.test/',
  longUrl: 'https://x.test/',
  destinationUrl: 'https://x.test/',
  long_url: 'https://x.test/',
  destination: 'https://x.test/',
  originalURL: 'https://x.test/',
  target: 'https://x.test/',
  Link: 'https://go.test/a',
  shortCode: 'a',
  keyword: 'a',
  shorturl: 'a',
  address: 'a',
  slug: 'a',
  key: 'a',
  domain: 'go.test',
  Date: '2024-01-01',
  date: '2024-01-01',
  click_time: '2024-01-01',
  timestamp: '2024-01-01',
}
const NAMES = [
  ...Object.keys(BASE),
  'id',
  'link',
  'Short link',
  'shortUrl',
  'visitedUrl',
  'shortURL',
  'path',
  'slashtag',
  'bitlink',
  'custom_bitlinks',
  'tags',
  'title',
  'comments',
  'clicks',
  'createdAt',
  'geo',
  'geoTargeting',
  'meta',
  'redirectRules',
  'previewImage',
  'image',
  'referrer',
  'user_agent',
  'country_code',
  'ip_address',
]
const MARKS = '\u0301\u0316'

/** Content of a cell that takes longest where a pattern starts again at each character, or a list is searched for each part. */
const CELLS: [string, (size: number) => unknown][] = [
  ['a host of marks', (size) => `https://x.a${MARKS.repeat(size / 2)}/a`],
  ['a host without a scheme', (size) => `x.a${MARKS.repeat(size / 2)}`],
  ['slashes', (size) => `https://x.test/a${'/'.repeat(size)}a`],
  ['slashes alone', (size) => `a${'/'.repeat(size)}a`],
  ['blanks', (size) => `a${' '.repeat(size)}b`],
  ['digits', (size) => `1${',111'.repeat(size / 4)}x`],
  ['backslashes', (size) => '\\'.repeat(size)],
  ['different parts', (size) => Array.from({ length: size / 6 }, (_, index) => index).join(',')],
  ['a list', (size) => Array.from({ length: size / 6 }, (_, index) => (index % 2 ? `${index}` : null))],
  ['an object', (size) => Object.fromEntries(Array.from({ length: size / 6 }, (_, i) => [`k${i}`, i]))],
]

const SIZE = atScale({ quick: 8_000, full: 32_000, soak: 32_000 })
/** The growth in time per doubling. */
const GROWTH_MAX = 2.6
/** Below it, a measurement says nothing. */
const FLOOR_MS = 40

test.each(CELLS)('the time to read a record grows with a cell of %s', async (_, toCell) => {
  const read = (size: number) =>
    measureProcessorMs(() => {
      const cell = toCell(size)
      for (const source of IMPORT_SOURCES.map(findSource)) {
        for (const name of NAMES) {
          const fields = new Map(Object.entries({ ...BASE, [name]: cell }))
          const record: FileRecord = { row: 1, table: null, fields }
          const link = source && toLink(source, record, UTC)
          // Case is folded in keys: `server/lib/text.ts` has its own table.
          if (link && 'value' in link)
            toLinkInput(link.value, link.value.slug?.slice(0, 100) ?? null, undefined)
          const click = source && toClick(source, record, UTC)
          if (source && click && 'value' in click && source.isCaseSensitive) toClickKeys(source, click.value)
        }
      }
    })
  await read(1_000)
  const [once, four] = [await read(SIZE), await read(SIZE * 4)]
  expect(four).toBeLessThan(Math.max(once, FLOOR_MS) * GROWTH_MAX ** 2)
})

test('the names of columns that seem to have a field are found in a time that grows with the names', async () => {
  const time = await measureProcessorMs(() => findSource('csv')?.suggestMapping?.(['('.repeat(1_000_000)]))
  expect(time).toBeLessThan(1_500)
})
