// Where the spool ends, for the process that reads behind the one that writes: numbers in a file that both have mapped.

import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Places of the numbers. To be read in this order: the segment is stored last. */
export const WRITE_SEGMENT = 0
export const WRITE_OFFSET = 1
/** Hits in memory for want of room on the disk. */
export const WAITING_HITS = 2

const FILE_BYTES = 16

const toPositionFile = (spoolDir: string) => join(spoolDir, 'live')

/** For the process that writes the spool. Nothing is live yet. */
export function createWritePosition(spoolDir: string): Int32Array {
  const path = toPositionFile(spoolDir)
  // In place where there is one, so that a full disk refuses it no room (see segment.ts for why holes are no good).
  const whole = existsSync(path) && statSync(path).size === FILE_BYTES
  writeFileSync(path, new Uint8Array(FILE_BYTES), { flag: whole ? 'r+' : 'w', mode: 0o600 })
  return mapWritePosition(spoolDir)
}

export function mapWritePosition(spoolDir: string): Int32Array {
  const { buffer, byteOffset } = Bun.mmap(toPositionFile(spoolDir), { shared: true })
  return new Int32Array(buffer, byteOffset, FILE_BYTES / Int32Array.BYTES_PER_ELEMENT)
}
