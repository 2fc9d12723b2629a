// The bytes of a spool segment: a 64-byte header, then records aligned to 8 bytes as [u32 payload length][u32
// crc][payload]. A record's length is stored last, so that a torn record is recognizable.

import { crc32 } from 'node:zlib'
import { HIT_OUTCOMES, HIT_TRIGGERS } from '../../../storage/hits/hit.ts'
import { type RawHit, TEXT_FIELDS } from './raw-hit.ts'

export const HEADER_BYTES = 64
/** 2^23 positions of 8 bytes: a hit id has 23 bits for the position inside a segment. */
export const MAX_SEGMENT_BYTES = 64 * 1024 * 1024

const MAGIC = 0x4850_5754 // "TWPH"
/** A release that changes the bytes of a segment raises it (open-rows.ts). */
export const SPOOL_FORMAT = 1
const RECORD_HEAD = 8
// at, workspaceId, linkId as float64 (ids may pass 2^32), outcome, flags, six text lengths
const FIXED_BYTES = 24 + 2 + 2 * TEXT_FIELDS.length
const MAX_PAYLOAD = FIXED_BYTES + TEXT_FIELDS.reduce((sum, [, bytes]) => sum + bytes, 0)
/** A segment with less free space than this is full. Every hit fits into it, so hits are not measured before they are written. */
export const MAX_RECORD_BYTES = align(RECORD_HEAD + MAX_PAYLOAD)

const HEAD_FLAG = 1
const PREFETCH_FLAG = 2
const QR_FLAG = 4
const INTERNAL_FLAG = 8
const IGNORED_FLAG = 16

export interface SegmentHeader {
  seq: number
  createdAt: number
  /**
   * Seeds the checksums. Records contain text from strangers. Without a secret, the reader of a damaged segment could take a
   * user agent with the form of a record for the next record.
   */
  nonce: number
}

/** The bytes of one segment, with views for writing. */
export interface SegmentBytes {
  /** `utf8Write` takes half the time of `write`, and writes whole characters only. */
  bytes: Buffer & { utf8Write(text: string, offset: number, length: number): number }
  view: DataView
  words: Int32Array
}

export function toSegmentBytes(mapped: Uint8Array): SegmentBytes {
  const { buffer, byteOffset, byteLength } = mapped
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength) as SegmentBytes['bytes'],
    view: new DataView(buffer, byteOffset, byteLength),
    words: new Int32Array(buffer, byteOffset, byteLength >> 2),
  }
}

function align(bytes: number) {
  return (bytes + 7) & ~7
}

/** The id of the hit at this offset: unique within a node, increasing, and below 2^53 for 2^30 segments. */
export const toHitId = (seq: number, offset: number) => seq * 2 ** 23 + offset / 8

export function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(SPOOL_FORMAT, 4)
  bytes.writeUInt32LE(header.nonce, 8)
  bytes.writeDoubleLE(header.seq, 16)
  bytes.writeDoubleLE(header.createdAt, 24)
  return bytes
}

/** null unless the bytes are a header of this version. */
export function decodeHeader(bytes: Buffer): SegmentHeader | null {
  if (
    bytes.length < HEADER_BYTES ||
    bytes.readUInt32LE(0) !== MAGIC ||
    bytes.readUInt32LE(4) !== SPOOL_FORMAT
  )
    return null
  return { nonce: bytes.readUInt32LE(8), seq: bytes.readDoubleLE(16), createdAt: bytes.readDoubleLE(24) }
}

// The checksum covers the offset and the length as well, so a record is valid only at its own offset.
const checksum = (payload: Buffer, nonce: number, offset: number) =>
  crc32(payload, (nonce ^ Math.imul(offset, 0x9e37_79b1) ^ payload.length) >>> 0)

/**
 * Writes a hit at `offset`, where MAX_RECORD_BYTES must be free, and returns the offset of the next record.
 * Texts are cut to their limits between characters. Lone surrogates become U+FFFD.
 */
export function encodeRecord(segment: SegmentBytes, offset: number, nonce: number, raw: RawHit): number {
  const { bytes, view, words } = segment
  const start = offset + RECORD_HEAD
  view.setFloat64(start, raw.at, true)
  view.setFloat64(start + 8, raw.workspaceId, true)
  view.setFloat64(start + 16, raw.linkId, true)
  bytes[start + 24] = HIT_OUTCOMES.indexOf(raw.outcome)
  bytes[start + 25] =
    (raw.head ? HEAD_FLAG : 0) |
    (raw.prefetch ? PREFETCH_FLAG : 0) |
    (raw.trigger === 'qr' ? QR_FLAG : 0) |
    (raw.internal ? INTERNAL_FLAG : 0) |
    (raw.ignored ? IGNORED_FLAG : 0)
  let end = start + FIXED_BYTES
  for (let i = 0; i < TEXT_FIELDS.length; i++) {
    const [name, bound] = TEXT_FIELDS[i] as (typeof TEXT_FIELDS)[number]
    const text = raw[name]
    const written = text === '' ? 0 : bytes.utf8Write(text, end, bound)
    view.setUint16(start + 26 + 2 * i, written, true)
    end += written
  }
  view.setUint32(offset + 4, checksum(bytes.subarray(start, end), nonce, offset), true)
  // Stored last and atomically, so that a reader that sees the length sees the whole record.
  Atomics.store(words, offset >> 2, end - start)
  return align(end)
}

const textBuffer = Buffer.allocUnsafeSlow(MAX_PAYLOAD) as SegmentBytes['bytes']

/** Cuts and repairs a text as the spool does. The result equals the text of a raw hit that was read from the spool. */
export function toSpooledText(name: (typeof TEXT_FIELDS)[number][0], text: string): string {
  const bound = TEXT_FIELDS.find(([field]) => field === name)?.[1] ?? 0
  return text === '' ? '' : textBuffer.toString('utf8', 0, textBuffer.utf8Write(text, 0, bound))
}

/** A part of a segment. */
export interface SegmentWindow {
  bytes: Buffer
  /** The offset in the segment at which `bytes` begins: a multiple of 8. */
  base: number
  seq: number
  nonce: number
  /** The window is at the end of the segment. */
  last: boolean
}

export interface SegmentRecords {
  hits: { id: number; raw: RawHit }[]
  /** The offset of the next read. */
  next: number
  /** The number of damaged or missing records that were skipped. */
  torn: number
}

/**
 * Reads every complete record of a window. Other bytes are skipped, 8 at a time, up to the next plausible length with a
 * valid checksum.
 */
export function readSpoolRecords({ bytes, base, seq, nonce, last }: SegmentWindow): SegmentRecords {
  const hits: SegmentRecords['hits'] = []
  let torn = 0
  let gap: 'none' | 'zeros' | 'damage' = 'none'
  let at = 0
  while (at + RECORD_HEAD + FIXED_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at)
    const end = at + RECORD_HEAD + length
    if (length >= FIXED_BYTES && length <= MAX_PAYLOAD) {
      if (end > bytes.length && !last) break
      const raw = end <= bytes.length ? decodeRecord(bytes, at, end, nonce, base) : null
      if (raw) {
        if (gap === 'zeros') torn++ // zeros between two records: a page that never reached the disk
        gap = 'none'
        hits.push({ id: toHitId(seq, base + at), raw })
        at = align(end)
        continue
      }
    }
    if (length !== 0 && gap !== 'damage') {
      torn++
      gap = 'damage'
    } else if (gap === 'none') gap = 'zeros'
    at += 8
  }
  return { hits, next: last ? base + align(bytes.length) : base + at, torn }
}

/** True if a batch can store the number. One invalid number would make the engine refuse the whole batch. */
const isStorableNumber = (n: number) => n >= 0 && n <= Number.MAX_SAFE_INTEGER

function decodeRecord(bytes: Buffer, at: number, end: number, nonce: number, base: number): RawHit | null {
  const start = at + RECORD_HEAD
  if (bytes.readUInt32LE(at + 4) !== checksum(bytes.subarray(start, end), nonce, base + at)) return null
  const flags = bytes[start + 25] ?? 0
  const outcome = HIT_OUTCOMES[bytes[start + 24] ?? 0]
  if (outcome === undefined) return null
  for (let i = 0; i < 3; i++) if (!isStorableNumber(bytes.readDoubleLE(start + 8 * i))) return null
  const raw: RawHit = {
    at: bytes.readDoubleLE(start),
    workspaceId: bytes.readDoubleLE(start + 8),
    linkId: bytes.readDoubleLE(start + 16),
    outcome,
    head: (flags & HEAD_FLAG) !== 0,
    prefetch: (flags & PREFETCH_FLAG) !== 0,
    internal: (flags & INTERNAL_FLAG) !== 0,
    ignored: (flags & IGNORED_FLAG) !== 0,
    trigger: HIT_TRIGGERS[flags & QR_FLAG ? 1 : 0],
    address: '',
    userAgent: '',
    referrer: '',
    query: '',
    destinationQuery: '',
    variant: '',
  }
  let from = start + FIXED_BYTES
  for (let i = 0; i < TEXT_FIELDS.length; i++) {
    const length = bytes.readUInt16LE(start + 26 + 2 * i)
    if (from + length > end) return null
    if (length > 0)
      raw[(TEXT_FIELDS[i] as (typeof TEXT_FIELDS)[number])[0]] = bytes.toString('utf8', from, from + length)
    from += length
  }
  return from === end ? raw : null
}
