// Copies the files of an import into the data directory, where the server reads them.

import { constants } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createUploadDirectory, FILE_NAMES } from '../../features/transfer/import/import-files.ts'
import type { ReceivedFile, Upload } from '../../features/transfer/import/receive-upload.ts'
import { findShortage } from '../../storage/disk-space.ts'
import { syncToDisk } from '../../storage/write-durably.ts'
import { CommandError } from '../command.ts'
import type { ProgressBar } from '../progress-bar.ts'

/** The largest import. Larger ones have to be split. */
const FILE_MAX = 10 * 1024 ** 3

/** @throws CommandError; then nothing stays */
export async function copyFiles(
  dataDir: string,
  path: string,
  clicksPath: string | undefined,
  progress: ProgressBar,
): Promise<Upload> {
  const file = await describeFile(path)
  const clicks = clicksPath === undefined ? undefined : await describeFile(clicksPath)
  const shortage = await findShortage(dataDir, file.bytes + (clicks?.bytes ?? 0))
  if (shortage)
    throw new CommandError(
      `${dataDir} has no room for a copy of the files: it needs ${shortage.needed}, and ${shortage.free} are free.`,
    )
  const directory = await createUploadDirectory(dataDir)
  try {
    progress.at(0, 'copies the file')
    await copyDurably(path, join(directory.path, FILE_NAMES.file))
    if (clicksPath !== undefined) await copyDurably(clicksPath, join(directory.path, FILE_NAMES.clicks))
    return { directory, files: { file, ...(clicks && { clicks }) }, fields: {} }
  } catch (error) {
    await directory.discard()
    throw error
  }
}

async function describeFile(path: string): Promise<ReceivedFile> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw new CommandError(`There is no file ${path}.`)
  if (found.size === 0) throw new CommandError(`${path} is empty.`)
  if (found.size > FILE_MAX) throw new CommandError(`${path} is larger than 10 GiB. Import it in parts.`)
  return { name: basename(path), bytes: found.size }
}

/** Some file systems share the blocks of both files. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  await syncToDisk(to)
}
