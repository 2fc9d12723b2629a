// The directory of uploaded files: DATA_DIR/imports. Each upload has its own directory, which only the server's user can
// read.

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken } from '../../../lib/crypto/random.ts'
import { syncToDisk } from '../../../storage/write-durably.ts'
import type { UploadedFile } from '../reader/protocol.ts'
import type { ImportRow } from './import-row.ts'

/** The suffix of a directory that is still being filled. */
const UNFINISHED = '.tmp'
/** Longer than any upload takes. */
const UNFINISHED_MAX_AGE_MS = 24 * 60 * 60_000
/** Longer than the time between the last byte of an upload and its row. */
const UNNAMED_MAX_AGE_MS = 60 * 60_000

const toImportsPath = (dataDir: string) => join(dataDir, 'imports')
export const toImportPath = (dataDir: string, directory: string) => join(toImportsPath(dataDir), directory)

export interface UploadDirectory {
  path: string
  /** Renames the directory to its final name, once its files are on the disk. @returns the name */
  finish(): Promise<string>
  discard(): Promise<void>
}

export async function createUploadDirectory(dataDir: string): Promise<UploadDirectory> {
  const name = randomToken(16)
  const finished = toImportPath(dataDir, name)
  const path = finished + UNFINISHED
  await mkdir(path, { recursive: true, mode: 0o700 })
  return {
    path,
    async finish() {
      await syncToDisk(path)
      await rename(path, finished)
      await syncToDisk(toImportsPath(dataDir))
      return name
    },
    discard: () => rm(path, { recursive: true, force: true }),
  }
}

export const FILE_NAMES = { file: 'file', clicks: 'clicks' } as const

/** @param directory from the options of the import */
export function toUploadedFiles(
  dataDir: string,
  directory: string,
  row: Pick<ImportRow, 'file_name' | 'clicks_file_name' | 'clicks_file_bytes'>,
): { file: UploadedFile; clicks: UploadedFile | null } {
  const path = toImportPath(dataDir, directory)
  return {
    file: { path: join(path, FILE_NAMES.file), name: row.file_name },
    clicks:
      row.clicks_file_bytes === null
        ? null
        : { path: join(path, FILE_NAMES.clicks), name: row.clicks_file_name },
  }
}

export const removeUpload = (dataDir: string, directory: string) =>
  rm(toImportPath(dataDir, directory), { recursive: true, force: true })

/** Deletes unneeded directories. @param needed the needed ones, by their names */
export async function sweepUploads(
  dataDir: string,
  needed: Pick<ReadonlyMap<string, unknown>, 'has'>,
  now: number,
): Promise<void> {
  const names = await readdir(toImportsPath(dataDir)).catch((error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  })
  for (const name of names) {
    if (needed.has(name)) continue
    const { mtimeMs } = await stat(toImportPath(dataDir, name))
    const maxAge = name.endsWith(UNFINISHED) ? UNFINISHED_MAX_AGE_MS : UNNAMED_MAX_AGE_MS
    if (now - mtimeMs > maxAge) await removeUpload(dataDir, name)
  }
}
