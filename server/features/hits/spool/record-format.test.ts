import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HIT_OUTCOMES } from '../../../storage/hits/hit.ts'
import { type RawHit, TEXT_FIELDS } from './raw-hit.ts'
import {
  encodeRecord,
  HEADER_BYTES,
  MAX_RECORD_BYTES,
  readSpoolRecords,
  toHitId,
  toSegmentBytes,
} from './record-format.ts'

const NONCE = 0x5eed_1234

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom('', '\ud800', 'a\udc00b', '\0\0', 'שלום עולם', '😀'.repeat(600), 'é'.repeat(100_000)),
)
const rawHit: fc.Arbitrary<RawHit> = fc.record({
  at: fc.integer({ min: 0, max: 2 ** 45 }),
  workspaceId: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  linkId: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  outcome: fc.constantFrom(...HIT_OUTCOMES),
  head: fc.boolean(),
  prefetch: fc.boolean(),
  internal: fc.boolean(),
  ignored: fc.boolean(),
  trigger: fc.constantFrom('link', 'qr'),
  address: text,
  userAgent: text,
  referrer: text,
  query: text,
  destinationQuery: text,
  variant: text,
})

function write(hits: RawHit[]) {
  const segment = toSegmentBytes(new Uint8Array(HEADER_BYTES + hits.length * MAX_RECORD_BYTES + 64))
  const places: number[] = []
  let offset = HEADER_BYTES
  for (const hit of hits) {
    places.push(offset)
    offset = encodeRecord(segment, offset, NONCE, hit)
  }
  return { segment, places, end: offset }
}

const read = (bytes: Buffer, base = HEADER_BYTES) =>
  readSpoolRecords({ bytes: bytes.subarray(base), base, seq: 3, nonce: NONCE, last: true })

/** The hit as a record holds it: each text well-formed, and cut to its limit between characters. */
function stored(hit: RawHit): RawHit {
  const kept = { ...hit }
  for (const [name, bound] of TEXT_FIELDS) {
    let bytes = 0
    let cut = ''
    for (const character of hit[name].toWellFormed()) {
      bytes += Buffer.byteLength(character)
      if (bytes > bound) break
      cut += character
    }
    kept[name] = cut
  }
  return kept
}

describe('spool records', () => {
  test('are read as they were written, cut to their limits', () => {
    fc.assert(
      fc.property(fc.array(rawHit, { maxLength: 5 }), (hits) => {
        const { segment, places } = write(hits)
        const reading = read(segment.bytes)
        expect(reading.torn).toBe(0)
        expect(reading.hits).toEqual(
          hits.map((hit, i) => ({ id: toHitId(3, places[i] ?? 0), raw: stored(hit) })),
        )
      }),
      { numRuns: 150 },
    )
  })

  test('are never invented, whatever happens to the bytes', () => {
    const flips = fc.array(fc.nat(), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(rawHit, { minLength: 1, maxLength: 4 }), flips, fc.nat(), (hits, bits, cut) => {
        const { segment, end } = write(hits)
        const damaged = Buffer.from(
          segment.bytes.subarray(0, HEADER_BYTES + (cut % (end - HEADER_BYTES + 1))),
        )
        for (const bit of bits)
          if (damaged.length > HEADER_BYTES) {
            const at = HEADER_BYTES + (Math.floor(bit / 8) % (damaged.length - HEADER_BYTES))
            damaged[at] = (damaged[at] ?? 0) ^ (1 << (bit % 8))
          }
        const originals = hits.map(stored)
        for (const { raw } of read(damaged).hits) expect(originals).toContainEqual(raw)
      }),
      { numRuns: 150 },
    )
  })

  test('after a damaged record are found, and the damage is counted once', () => {
    const hit = { ...fc.sample(rawHit, 1)[0], userAgent: 'x'.repeat(400) } as RawHit
    const { segment, places } = write([hit, hit, hit])
    const at = (places[1] ?? 0) + 100
    segment.bytes[at] = (segment.bytes[at] ?? 0) ^ 1
    const reading = read(segment.bytes)
    expect(reading.hits.map(({ id }) => id)).toEqual([places[0], places[2]].map((at) => toHitId(3, at ?? 0)))
    expect(reading.torn).toBe(1)
  })

  test('without a stored length are not read', () => {
    const [hit] = fc.sample(rawHit, 1) as [RawHit]
    const { segment, places } = write([hit, hit])
    segment.bytes.writeUInt32LE(0, places[1] ?? 0)
    expect(read(segment.bytes).hits).toHaveLength(1)
  })

  test('are valid only at their offset and under their segment’s nonce', () => {
    const [hit] = fc.sample(rawHit, 1) as [RawHit]
    const { segment } = write([hit])
    const window = { bytes: segment.bytes.subarray(HEADER_BYTES), base: HEADER_BYTES, seq: 3, last: true }
    expect(readSpoolRecords({ ...window, nonce: NONCE + 1 }).hits).toEqual([])
    expect(readSpoolRecords({ ...window, nonce: NONCE, base: HEADER_BYTES + 8 }).hits).toEqual([])
  })

  test('that continue after the window are left for the next window', () => {
    const hits = fc.sample(rawHit, 20)
    const { segment, end } = write(hits)
    const found: RawHit[] = []
    let base = HEADER_BYTES
    while (base < end) {
      const size = Math.min(MAX_RECORD_BYTES, end - base)
      const bytes = segment.bytes.subarray(base, base + size)
      const reading = readSpoolRecords({ bytes, base, seq: 1, nonce: NONCE, last: base + size === end })
      found.push(...reading.hits.map(({ raw }) => raw))
      expect(reading.next).toBeGreaterThan(base)
      base = reading.next
    }
    expect(found).toEqual(hits.map(stored))
  })
})
