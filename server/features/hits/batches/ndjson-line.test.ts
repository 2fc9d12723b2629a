import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  appendBytes,
  appendNumber,
  appendNumber64,
  createLineBuffer,
  ensureLineRoom,
  LINE_MAX_BYTES,
  toUtf8,
} from './ndjson-line.ts'

function written(write: (lines: ReturnType<typeof createLineBuffer>) => void): string {
  const lines = createLineBuffer(100)
  write(lines)
  return Buffer.from(lines.bytes.subarray(0, lines.end)).toString()
}

describe('appended numbers equal String(number)', () => {
  const edges = [
    0,
    9,
    10,
    99,
    100,
    999,
    1000,
    999_999,
    1_000_000,
    999_999_999,
    1e9,
    1e9 + 1,
    1e15,
    2 ** 53 - 1,
  ]
  test.each(edges)('%p', (n) => expect(written((lines) => appendNumber(lines, n))).toBe(String(n)))

  test('for any safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (n) => expect(written((lines) => appendNumber(lines, n))).toBe(String(n))),
      { numRuns: 5000 },
    )
  })

  test('for any integer of 64 bits', () => {
    const half = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 0xffff_ffff))
    fc.assert(
      fc.property(half, half, (high, low) => {
        const number = BigInt(high) * 2n ** 32n + BigInt(low)
        expect(written((lines) => appendNumber64(lines, high, low))).toBe(String(number))
      }),
      { numRuns: 5000 },
    )
  })
})

test('ensureLineRoom makes room for a line and keeps the bytes before it', () => {
  const lines = createLineBuffer(LINE_MAX_BYTES)
  appendBytes(lines, toUtf8('kept'))
  ensureLineRoom(lines)
  appendBytes(lines, new Uint8Array(LINE_MAX_BYTES))
  expect(Buffer.from(lines.bytes.subarray(0, 4)).toString()).toBe('kept')
  expect(lines.end).toBe(LINE_MAX_BYTES + 4)
})
