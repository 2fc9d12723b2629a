// The spool's write position: numbers in a file that both the server (the writer) and the hit worker (the reader) map into
// memory.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Indexes of the numbers. Read WRITE_SEGMENT before WRITE_OFFSET: the writer stores the offset first and the segment
 * last, so a reader never sees a new segment with the offset of the old one.
 */
export const WRITE_SEGMENT = 0
export const WRITE_OFFSET = 1
/** The number of hits that wait in memory because the disk is full. */
export const WAITING_HITS = 2

const FILE_BYTES = 16

const toPositionFile = (spoolDir: string) => join(spoolDir, 'live')

/** Creates the file for the process that writes the spool. All numbers are 0: no segment is live yet. */
export function createWritePosition(spoolDir: string): Int32Array {
  const path = toPositionFile(spoolDir)
  // An existing file is overwritten in place, so that a full disk is no error. segment.ts says why the file
  // must not have holes.
  const isComplete = existsSync(path) && statSync(path).size === FILE_BYTES
  writeFileSync(path, new Uint8Array(FILE_BYTES), { flag: isComplete ? 'r+' : 'w', mode: 0o600 })
  return mapWritePosition(spoolDir)
}

/** Reads the numbers once. @returns undefined if no server has created the file */
export function readWritePosition(spoolDir: string): Int32Array | undefined {
  const path = toPositionFile(spoolDir)
  if (!existsSync(path)) return undefined
  return new Int32Array(new Uint8Array(readFileSync(path)).buffer)
}

/** Maps the file that `createWritePosition` created. */
export function mapWritePosition(spoolDir: string): Int32Array {
  const { buffer, byteOffset } = Bun.mmap(toPositionFile(spoolDir), { shared: true })
  return new Int32Array(buffer, byteOffset, FILE_BYTES / Int32Array.BYTES_PER_ELEMENT)
}

/** Reads the number of hits that wait in memory, in another process. 0 if no server has run. */
export const readWaitingHits = (spoolDir: string): number => readWritePosition(spoolDir)?.[WAITING_HITS] ?? 0
