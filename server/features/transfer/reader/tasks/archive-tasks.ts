// The tasks `checkArchive` and `archive`: the export of a workspace.

import { checkArchive } from '../../archive/check-archive.ts'
import { readArchiveRecords } from '../../archive/read-archive-records.ts'
import type { TaskFunction } from '../protocol.ts'

export const checkArchiveFile: TaskFunction<'checkArchive'> = ({ file }, send) =>
  checkArchive(file.path, () => send(null))

export const readArchive: TaskFunction<'archive'> = async ({ file, skip }, send) => {
  await readArchiveRecords({ path: file.path, skip }, send)
  return null
}
