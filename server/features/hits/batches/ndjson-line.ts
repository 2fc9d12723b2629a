// Builds the lines of a batch as bytes, without a string for each line: shared parts are copied, numbers are written
// digit by digit.

import type { Hit } from '../../../storage/hits/hit.ts'

/** A buffer of lines. New bytes go to `end`. */
export interface LineBuffer {
  bytes: Uint8Array
  end: number
}

/** Room for the longest line, 23 kB: all texts at their limits and every character escaped. */
export const LINE_MAX_BYTES = 32 * 1024

export const createLineBuffer = (capacity: number): LineBuffer => ({
  bytes: new Uint8Array(capacity),
  end: 0,
})

/** Ensures space for one line. Call it before each line. */
export function ensureLineRoom(lines: LineBuffer): void {
  if (lines.end + LINE_MAX_BYTES <= lines.bytes.length) return
  const larger = new Uint8Array(lines.bytes.length * 2)
  larger.set(lines.bytes)
  lines.bytes = larger
}

export const toUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** `,"country":"US","city":"…"`, without the fields that are null. */
export function toJsonPart(fields: Partial<Hit>): Uint8Array {
  let json = ''
  for (const [name, value] of Object.entries(fields))
    if (value !== null) json += `,"${name}":${JSON.stringify(value)}`
  return toUtf8(json)
}

export function appendBytes(lines: LineBuffer, part: Uint8Array): void {
  lines.bytes.set(part, lines.end)
  lines.end += part.length
}

const TRIPLES = toUtf8(Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0')).join(''))
const ZERO = 48
const BILLION = 1e9

/** @param n a whole number from 0 to 2^53 - 1 */
export function appendNumber(lines: LineBuffer, n: number): void {
  // A number below a billion is a small integer of the JavaScript engine, which takes half the time.
  if (n < BILLION) appendSmall(lines, n | 0)
  else {
    const billions = Math.floor(n / BILLION)
    appendSmall(lines, billions | 0)
    appendNine(lines, (n - billions * BILLION) | 0)
  }
}

/** Appends a whole number of 64 bits, given as two halves of 32. Each step stays below 2^53. */
export function appendNumber64(lines: LineBuffer, high: number, low: number): void {
  // 2^32 = 429,496 · 10^4 + 7,296
  const tenThousands = high * 429_496
  const hundredThousands = Math.floor(tenThousands / 1e5)
  const rest = (tenThousands - hundredThousands * 1e5) * 1e4 + high * 7296 + low
  const carry = Math.floor(rest / BILLION)
  const billions = hundredThousands + carry
  if (billions === 0) appendNumber(lines, rest)
  else {
    appendNumber(lines, billions)
    appendNine(lines, (rest - carry * BILLION) | 0)
  }
}

/** Appends a number below a billion, without leading zeros. */
function appendSmall(lines: LineBuffer, n: number): void {
  if (n >= 1000) {
    const thousands = (n / 1000) | 0
    appendSmall(lines, thousands)
    appendTriple(lines, n - thousands * 1000)
  } else {
    const { bytes } = lines
    if (n >= 100) bytes[lines.end++] = TRIPLES[3 * n] as number
    if (n >= 10) bytes[lines.end++] = TRIPLES[3 * n + 1] as number
    bytes[lines.end++] = ZERO + (n % 10)
  }
}

/** Appends nine digits, with leading zeros. */
function appendNine(lines: LineBuffer, n: number): void {
  const thousands = (n / 1000) | 0
  const millions = (thousands / 1000) | 0
  appendTriple(lines, millions)
  appendTriple(lines, thousands - millions * 1000)
  appendTriple(lines, n - thousands * 1000)
}

function appendTriple(lines: LineBuffer, n: number): void {
  const { bytes, end } = lines
  bytes[end] = TRIPLES[3 * n] as number
  bytes[end + 1] = TRIPLES[3 * n + 1] as number
  bytes[end + 2] = TRIPLES[3 * n + 2] as number
  lines.end = end + 3
}
