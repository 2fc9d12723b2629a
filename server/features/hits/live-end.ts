// Where the spool ends, for the process that reads behind the one that writes: numbers in a file that both have mapped.

import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Places of the numbers. To be read in this order: the segment is stored last. */
export const LIVE_SEGMENT = 0
export const LIVE_END = 1
/** Hits in memory for want of room on the disk. */
export const WAITING = 2

const BYTES = 16

const liveFile = (spoolDir: string) => join(spoolDir, 'live')

/** For the process that writes the spool. Nothing is live yet. */
export function makeLiveEnd(spoolDir: string): Int32Array {
  const path = liveFile(spoolDir)
  // In place where there is one, so that a full disk refuses it no room (see segment.ts for why holes are no good).
  const whole = existsSync(path) && statSync(path).size === BYTES
  writeFileSync(path, new Uint8Array(BYTES), { flag: whole ? 'r+' : 'w', mode: 0o600 })
  return mapLiveEnd(spoolDir)
}

export function mapLiveEnd(spoolDir: string): Int32Array {
  const { buffer, byteOffset } = Bun.mmap(liveFile(spoolDir), { shared: true })
  return new Int32Array(buffer, byteOffset, BYTES / Int32Array.BYTES_PER_ELEMENT)
}
