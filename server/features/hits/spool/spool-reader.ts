// Reads the spool in another process than its writer, by plain reads of the segment files, which the kernel keeps equal to the
// mapping. It also erases addresses: it overwrites hits that are in a batch, and deletes full segments.

import { readSync, writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { log } from '../../../lib/log.ts'
import { quarantine, toUnreadablePath } from '../../../storage/quarantine.ts'
import type { SpoolPosition } from './position.ts'
import { decodeHeader, HEADER_BYTES, readSpoolRecords, type SegmentRecords } from './record-format.ts'
import { parseSegmentName, toSegmentName } from './segment.ts'
import { WRITE_OFFSET, WRITE_SEGMENT } from './write-position.ts'

/** About 3,300 hits. Questions wait 10 ms while the worker enriches them. */
const WINDOW_BYTES = 1024 * 1024

export interface SpoolReader {
  /** `next` has returned every hit before this position. */
  position(): SpoolPosition
  /** @returns true if there may be hits after the position */
  isBehind(): boolean
  /** The next hits; null if there are none now. The list is empty if the reader only skipped damage. */
  next(): Promise<SegmentRecords['hits'] | null>
  /** Moves back to `position`. */
  rewind(position: SpoolPosition): Promise<void>
  /** Erases all hits before a position. Call it once these hits are stored in a batch. */
  eraseBefore(before: SpoolPosition): Promise<void>
  close(): Promise<void>
}

interface OpenSegment {
  file: FileHandle
  seq: number
  nonce: number
  bytes: number
}

interface ReaderState {
  readonly dir: string
  readonly writePosition: Int32Array
  readonly buffer: Buffer
  position: SpoolPosition
  current: OpenSegment | null
  /** The position up to which the spool is overwritten. 0 after a start, when it is unknown. */
  erased: SpoolPosition
}

export function openSpoolReader(dir: string, writePosition: Int32Array, start: SpoolPosition): SpoolReader {
  const reader: ReaderState = {
    dir,
    writePosition,
    buffer: Buffer.allocUnsafeSlow(WINDOW_BYTES),
    position: { ...start },
    current: null,
    erased: { seq: 0, offset: 0 },
  }
  return {
    position: () => ({ ...reader.position }),
    isBehind: () => isBehind(reader),
    next: () => readNext(reader),
    async rewind(position) {
      await closeCurrent(reader)
      reader.position = { ...position }
    },
    eraseBefore: (before) => eraseBefore(reader, before),
    close: () => closeCurrent(reader),
  }
}

function isBehind({ writePosition, position }: ReaderState): boolean {
  const live = Atomics.load(writePosition, WRITE_SEGMENT)
  return (
    live > position.seq ||
    (live === position.seq && Atomics.load(writePosition, WRITE_OFFSET) > position.offset)
  )
}

async function readNext(reader: ReaderState): Promise<SegmentRecords['hits'] | null> {
  for (;;) {
    // The segment before the offset: see write-position.ts.
    const live = Atomics.load(reader.writePosition, WRITE_SEGMENT)
    const liveEnd = Atomics.load(reader.writePosition, WRITE_OFFSET)
    const segment = live === 0 ? null : await openCurrent(reader, live)
    if (!segment) return null
    const end = segment.seq === live ? liveEnd : segment.bytes
    const { position } = reader
    if (position.offset < end) {
      const records = readWindow(segment, reader.buffer, position.offset, end)
      if (records.torn > 0) log.warn('spool_torn', { segment: segment.seq, places: records.torn })
      position.offset = records.next
      return records.hits
    }
    if (segment.seq === live) return null
    reader.position = { seq: segment.seq + 1, offset: HEADER_BYTES }
  }
}

/** Opens the segment of the position, or else the next existing one, up to and including the live one. */
async function openCurrent(reader: ReaderState, live: number): Promise<OpenSegment | null> {
  const { seq: wanted } = reader.position
  if (reader.current?.seq === wanted) return reader.current
  await closeCurrent(reader)
  const seqs = (await listSegments(reader.dir)).filter((seq) => seq >= wanted && seq <= live)
  for (const seq of seqs) {
    const segment = await openSegment(reader.dir, seq)
    if (!segment) continue
    if (seq !== wanted) reader.position = { seq, offset: HEADER_BYTES }
    reader.current = segment
    return segment
  }
  return null
}

async function closeCurrent(reader: ReaderState) {
  const segment = reader.current
  reader.current = null
  await segment?.file.close()
}

async function eraseBefore(reader: ReaderState, before: SpoolPosition) {
  for (const seq of await listSegments(reader.dir))
    if (seq < before.seq) await rm(join(reader.dir, toSegmentName(seq)), { force: true })
  const { current, erased } = reader
  const start = erased.seq === before.seq ? erased.offset : HEADER_BYTES
  // If the reader has left the segment meanwhile, the whole segment is deleted with the next position.
  if (current?.seq !== before.seq || start >= before.offset) return
  // A synchronous write, because the reader may meanwhile close this segment and read the next.
  const length = before.offset - start
  writeSync(current.file.fd, Buffer.alloc(length), 0, length, start)
  reader.erased = { ...before }
}

/**
 * Reads synchronously, because new hits are in the kernel's memory, and the thread pool may be busy with the engine's work.
 */
function readWindow(segment: OpenSegment, buffer: Buffer, start: number, end: number): SegmentRecords {
  const bytesRead = readSync(segment.file.fd, buffer, 0, Math.min(buffer.length, end - start), start)
  if (bytesRead === 0) return { hits: [], next: end, torn: 1 }
  return readSpoolRecords({
    bytes: buffer.subarray(0, bytesRead),
    base: start,
    seq: segment.seq,
    nonce: segment.nonce,
    // All records before the end are complete, so no record of the window continues after the end.
    last: start + bytesRead >= end,
  })
}

const listSegments = async (dir: string) =>
  (await readdir(dir))
    .map(parseSegmentName)
    .filter((seq) => seq !== null)
    .sort((a, b) => a - b)

/** null when the segment's header cannot be read. */
async function openSegment(dir: string, seq: number): Promise<OpenSegment | null> {
  const path = join(dir, toSegmentName(seq))
  const file = await open(path, 'r+')
  const head = Buffer.alloc(HEADER_BYTES)
  const { bytesRead } = await file.read(head, 0, HEADER_BYTES, 0)
  const header = decodeHeader(head.subarray(0, bytesRead))
  if (header?.seq === seq) return { file, seq, nonce: header.nonce, bytes: (await file.stat()).size }
  await file.close()
  // Without the nonce records cannot be recognized, but an operator may want to inspect the file.
  log.error('spool_segment_unreadable', { segment: seq, movedTo: toUnreadablePath(path) })
  await quarantine(path)
  return null
}
