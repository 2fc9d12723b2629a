// The tasks `checkArchive` and `archive`, and the task `clicks` for an archive: the export of a workspace.

import { openArchive } from '../../archive/open-archive.ts'
import { readArchiveHits } from '../../archive/read-archive-hits.ts'
import { readArchiveRecords } from '../../archive/read-archive-records.ts'
import { verifyArchive } from '../../archive/verify-archive.ts'
import { readHistory } from '../../history/read-history.ts'
import type { TaskFunction } from '../protocol.ts'

export const checkArchiveFile: TaskFunction<'checkArchive'> = ({ file }, send) =>
  verifyArchive(file.path, () => send(null))

export const readArchive: TaskFunction<'archive'> = async ({ file, skip }, send) => {
  await readArchiveRecords({ path: file.path, skip }, send)
  return null
}

export const readArchiveClicks: TaskFunction<'clicks'> = async ({ file, history }, send) => {
  const archive = await openArchive(file.path)
  try {
    await readHistory(history, () => readArchiveHits(archive), send)
    return null
  } finally {
    await archive.close()
  }
}
