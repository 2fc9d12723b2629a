// The directory of unfinished business: what an export is written into until it is sent.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Empties it too: whoever waited for what is in there is gone. For the process that holds the data directory. */
export function prepareScratchDirectory(dataDir: string): string {
  const scratch = join(dataDir, 'tmp')
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  // Not the directory itself, which may be a disk of its own.
  for (const name of readdirSync(scratch)) rmSync(join(scratch, name), { recursive: true, force: true })
  return scratch
}

export interface ExportDirectory {
  path: string
  remove(): Promise<void>
}

export async function createExportDirectory(scratch: string): Promise<ExportDirectory> {
  const path = await mkdtemp(join(scratch, 'export-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
