// The directory DATA_DIR/tmp for exports. Each export has a subdirectory until it is sent.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

export const toScratchDirectory = (dataDir: string) => join(dataDir, 'tmp')

/** Creates or empties the directory, because clients of earlier exports are gone. Only for the process that locks DATA_DIR. */
export function prepareScratchDirectory(dataDir: string): string {
  const scratch = toScratchDirectory(dataDir)
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  // Keep the directory itself, which can be a mount point.
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
