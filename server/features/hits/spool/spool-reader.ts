// Reads the spool behind the process that writes it, from another process: plain reads of the segment files, which the
// kernel keeps the same as the mapping. Addresses end here: what is described is overwritten, full segments deleted.

import { readSync, writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { log } from '../../../lib/log.ts'
import type { SpoolPosition } from '../batches/batch-file.ts'
import { decodeHeader, HEADER_BYTES, readRecords, type SegmentRecords } from './record-format.ts'
import { parseSegmentName, toSegmentName } from './segment.ts'
import { WRITE_OFFSET, WRITE_SEGMENT } from './write-position.ts'

// About 3,300 hits: describing them holds up the worker's questions for 10 ms.
const WINDOW_BYTES = 1024 * 1024

export interface SpoolReader {
  /** Everything before it has been returned. */
  position(): SpoolPosition
  /** Whether something new may stand after the position. */
  isBehind(): boolean
  /** The next hits; null when there are none now. May be empty where nothing but damage was stepped over. */
  next(): Promise<SegmentRecords['hits'] | null>
  /** Forgets what was returned since: the next hits are those after `position`. */
  rewind(position: SpoolPosition): Promise<void>
  /** Destroys everything before a position that was reached. Call it when that is safe elsewhere. */
  eraseBefore(before: SpoolPosition): Promise<void>
  close(): Promise<void>
}

interface OpenSegment {
  file: FileHandle
  seq: number
  nonce: number
  bytes: number
}

export function openSpoolReader(dir: string, shared: Int32Array, from: SpoolPosition): SpoolReader {
  let at = { ...from }
  let current: OpenSegment | null = null
  const buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  /** Up to where this segment has been overwritten; unknown (0) after a start. */
  let erased: SpoolPosition = { seq: 0, offset: 0 }

  const liveSegment = () => Atomics.load(shared, WRITE_SEGMENT)

  async function release() {
    const segment = current
    current = null
    await segment?.file.close()
  }

  /** Opens the segment of the position, or of the next one there is, up to and with the live one. */
  async function openCurrent(live: number): Promise<OpenSegment | null> {
    if (current?.seq === at.seq) return current
    await release()
    const seqs = (await listSegments(dir)).filter((seq) => seq >= at.seq && seq <= live)
    for (const seq of seqs) {
      const segment = await openSegment(dir, seq)
      if (!segment) continue
      if (seq !== at.seq) at = { seq, offset: HEADER_BYTES }
      current = segment
      return segment
    }
    return null
  }

  async function next() {
    for (;;) {
      // The number before the end: see write-position.ts.
      const live = liveSegment()
      const liveEnd = Atomics.load(shared, WRITE_OFFSET)
      const segment = live === 0 ? null : await openCurrent(live)
      if (!segment) return null
      const end = segment.seq === live ? liveEnd : segment.bytes
      if (at.offset < end) {
        const reading = readWindow(segment, buffer, at.offset, end)
        if (reading.torn > 0) log.warn('spool_torn', { segment: segment.seq, places: reading.torn })
        at.offset = reading.next
        return reading.hits
      }
      if (segment.seq === live) return null
      at = { seq: segment.seq + 1, offset: HEADER_BYTES }
    }
  }

  async function forget(before: SpoolPosition) {
    for (const seq of await listSegments(dir))
      if (seq < before.seq) await rm(join(dir, toSegmentName(seq)), { force: true })
    const from = erased.seq === before.seq ? erased.offset : HEADER_BYTES
    // A segment that was left behind meanwhile is deleted with the next position, all of it.
    if (current?.seq === before.seq && from < before.offset) {
      // At once, since the reader may go on to the next segment meanwhile and close this one.
      writeSync(current.file.fd, Buffer.alloc(before.offset - from), 0, before.offset - from, from)
      erased = { ...before }
    }
  }

  return {
    position: () => ({ ...at }),
    isBehind() {
      const live = liveSegment()
      return live > at.seq || (live === at.seq && Atomics.load(shared, WRITE_OFFSET) > at.offset)
    },
    next,
    async rewind(position) {
      await release()
      at = { ...position }
    },
    eraseBefore: forget,
    close: release,
  }
}

/** At once: what was just recorded is in the kernel's memory, and the thread pool may be busy with an engine's work. */
function readWindow(segment: OpenSegment, buffer: Buffer, from: number, end: number): SegmentRecords {
  const bytesRead = readSync(segment.file.fd, buffer, 0, Math.min(buffer.length, end - from), from)
  if (bytesRead === 0) return { hits: [], next: end, torn: 1 }
  return readRecords({
    bytes: buffer.subarray(0, bytesRead),
    base: from,
    seq: segment.seq,
    nonce: segment.nonce,
    // All records before the end are complete, so nothing that begins here goes on after it.
    last: from + bytesRead >= end,
  })
}

const listSegments = async (dir: string) =>
  (await readdir(dir))
    .map(parseSegmentName)
    .filter((seq) => seq !== null)
    .sort((a, b) => a - b)

async function openSegment(dir: string, seq: number): Promise<OpenSegment | null> {
  const path = join(dir, toSegmentName(seq))
  const file = await open(path, 'r+')
  const head = Buffer.alloc(HEADER_BYTES)
  const { bytesRead } = await file.read(head, 0, HEADER_BYTES, 0)
  const header = decodeHeader(head.subarray(0, bytesRead))
  if (header?.seq === seq) return { file, seq, nonce: header.nonce, bytes: (await file.stat()).size }
  await file.close()
  // Its records cannot be told from noise, but an operator may want to look before it is deleted.
  log.error('spool_segment_unreadable', { segment: seq, movedTo: `${path}.unreadable` })
  await rename(path, `${path}.unreadable`)
  return null
}
