// Gets a copy of the DuckDB file from a server that runs: only its hit worker can read the file.

import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isHitCopyBegun, isHitCopyReady, requestHitCopy } from '../../features/hits/batches/hit-copy.ts'
import { findShortage } from '../../storage/disk-space.ts'
import { toHitFilePath } from '../../storage/hits/duckdb/hit-file.ts'
import { CommandError } from '../command.ts'

/** A worker that sleeps starts within a second. */
const BEGINS_WITHIN_MS = 30_000
const POLL_MS = 200
/** For the slices that are sent, and for the spool of the server. */
const ROOM_BYTES = 512 * 1024 ** 2

/**
 * @returns whether there is a copy; false when the server has no hits, or does not make one
 * @throws CommandError when the disk has no room
 */
export async function obtainHitCopy(dataDir: string, signal: AbortSignal): Promise<boolean> {
  const path = toHitFilePath(dataDir)
  if (!existsSync(path)) return false
  await requireRoom(dataDir, (await stat(path)).size)
  await requestHitCopy(dataDir)
  const deadline = performance.now() + BEGINS_WITHIN_MS
  while (!(await isHitCopyReady(dataDir))) {
    signal.throwIfAborted()
    if (performance.now() > deadline && !isHitCopyBegun(dataDir)) return false
    await Bun.sleep(POLL_MS)
  }
  return true
}

async function requireRoom(dataDir: string, copyBytes: number): Promise<void> {
  const shortage = await findShortage(dataDir, copyBytes + ROOM_BYTES)
  if (shortage)
    throw new CommandError(
      `A copy of the hits needs ${shortage.needed} beside ${dataDir} for a while, and ${shortage.free} are free. ` +
        'Make room, or stop the server first: then no copy of the hits is needed.',
    )
}
