import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  packArchive,
  packZip,
  toFormRecord,
  toManifest,
} from '../../../../tests/support/imports/pack-archive.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { FileProblem } from '../files/source-file.ts'
import { readArchiveRecords } from './read-archive-records.ts'
import { verifyArchive } from './verify-archive.ts'

const directory = mkdtempSync(join(tmpdir(), 'towpath-archive-'))
const path = join(directory, 'a.zip')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const TAGS = '{"name":"a","color":"gray","createdAt":"2026-01-01T00:00:00.000Z"}\n'

const read = async (bytes: Buffer): Promise<string> => {
  await Bun.write(path, bytes)
  try {
    await verifyArchive(path, async () => {})
    return 'whole'
  } catch (error) {
    if (error instanceof FileProblem) return error.message
    throw error
  }
}

describe('the zip of a workspace', () => {
  let whole: Buffer
  beforeAll(async () => {
    whole = await packZip([
      ['tags.ndjson', TAGS],
      ['manifest.json', toManifest({ 'tags.ndjson': TAGS })],
    ])
  })

  test('is read', async () => {
    expect(await read(whole)).toBe('whole')
    const batches: unknown[] = []
    await readArchiveRecords({ path, skip: 0 }, async (batch) => batches.push(batch))
    expect(batches).toEqual([
      {
        file: 'tags.ndjson',
        readings: [{ row: 1, record: { name: 'a', color: 'gray', createdAt: 1767225600000 } }],
      },
    ])
  })

  test('of an older release lacks settings of forms', async () => {
    const { uploads, reply, spam, rules, messages, consent, ...older } = toFormRecord('abcdefgh23')
    await Bun.write(path, await packArchive({ 'forms.ndjson': [older] }))
    const problems: unknown[] = []
    await readArchiveRecords({ path, skip: 0 }, async ({ readings }) =>
      problems.push(...readings.map(({ problem }) => problem)),
    )
    expect(problems).toEqual([undefined])
  })

  const bomb = Buffer.alloc(65 * 1024 * 1024)
  test.each([
    ['without a manifest', [['tags.ndjson', TAGS]], 'no manifest.json'],
    ['with another manifest', [['manifest.json', '{"format":"other"}']], 'not that of an export'],
    ['with a manifest that is no JSON', [['manifest.json', '{']], 'not that of an export'],
    [
      'of a newer release',
      [['manifest.json', toManifest({}, { version: 2, product: '9.0.0' })]],
      'newer release (9.0.0)',
    ],
    [
      'with a file that was changed',
      [
        ['tags.ndjson', TAGS.replace('"a"', '"b"')],
        ['manifest.json', toManifest({ 'tags.ndjson': TAGS })],
      ],
      'checksum',
    ],
    [
      'with a file that is shorter',
      [
        ['tags.ndjson', ''],
        ['manifest.json', toManifest({ 'tags.ndjson': TAGS })],
      ],
      'another tags.ndjson',
    ],
    [
      'without a file of its manifest',
      [['manifest.json', toManifest({ 'tags.ndjson': TAGS })]],
      'lacks "tags.ndjson"',
    ],
    [
      'with a file beside its manifest',
      [
        ['tags.ndjson', TAGS],
        ['manifest.json', toManifest({})],
      ],
      'does not name',
    ],
    [
      'with a file that no export has',
      [
        ['evil.sh', 'x'],
        ['manifest.json', toManifest({})],
      ],
      'no export of this product has',
    ],
    [
      'with a file twice',
      [
        ['tags.ndjson', TAGS],
        ['tags.ndjson', TAGS],
        ['manifest.json', toManifest({ 'tags.ndjson': TAGS })],
      ],
      'twice',
    ],
    [
      'with a bomb',
      [
        ['hits.ndjson', bomb],
        ['manifest.json', toManifest({ 'hits.ndjson': bomb })],
      ],
      'more than 200 times',
    ],
  ] as [string, [string, string | Buffer][], string][])(
    '%s is refused with a sentence',
    async (_, entries, sentence) => {
      expect(await read(await packZip(entries))).toContain(sentence)
    },
  )

  test('of more entries than can be kept in memory is refused before they are read', async () => {
    // The end of a zip says how many there are: as ZIP64, whose numbers are long enough.
    const end = whole.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
    const long = Buffer.alloc(56)
    long.write('PK\x06\x06', 'latin1')
    long.writeBigUInt64LE(250_001n, 32)
    long.writeBigUInt64LE(BigInt(whole.readUInt32LE(end + 16)), 48)
    const locator = Buffer.alloc(20)
    locator.write('PK\x06\x07', 'latin1')
    locator.writeBigUInt64LE(BigInt(end), 8)
    const short = Buffer.from(whole.subarray(end))
    short.fill(0xff, 8, 20)
    expect(await read(Buffer.concat([whole.subarray(0, end), long, locator, short]))).toContain(
      '250001 files, and at most 250000',
    )
  })

  test('that was cut off, or damaged anywhere, is refused or the same', async () => {
    for (let length = 0; length < whole.length; length += 7)
      expect(await read(whole.subarray(0, length))).not.toBe('whole')
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
        const damaged = Buffer.from(whole)
        damaged[at] = byte
        // Some bytes say nothing, such as a time. Whatever it is, the answer is a sentence.
        expect(await read(damaged)).toBeString()
      }),
      { numRuns: atScale({ full: 200, soak: 20_000 }) },
    )
  })
})
