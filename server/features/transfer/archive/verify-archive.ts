// Reads a whole archive once before any record is stored, and compares each file with the manifest.

import { createHash } from 'node:crypto'
import type { WorkspaceFileName } from '../export/manifest.ts'
import { FileProblem } from '../files/source-file.ts'
import { type ArchiveManifest, openArchive } from './open-archive.ts'

export interface ArchiveContents {
  manifest: ArchiveManifest
  /** The number of lines of each file. */
  records: Partial<Record<WorkspaceFileName, number>>
  /** The unpacked size of all files of submissions. */
  fileBytes: number
}

/** @param onProgress from 0 to 1 @throws FileProblem */
export async function verifyArchive(
  path: string,
  onProgress: (done: number) => Promise<unknown>,
): Promise<ArchiveContents> {
  const archive = await openArchive(path)
  try {
    const { files } = archive.manifest
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    const records: ArchiveContents['records'] = {}
    let done = 0
    for (const file of files) {
      const hash = createHash('sha256')
      let told = done
      for await (const piece of archive.read(file.name as WorkspaceFileName)) {
        hash.update(piece)
        done += piece.length
        if (done - told < TELL_BYTES) continue
        told = done
        await onProgress(done / total)
      }
      if (hash.digest('hex') !== file.sha256)
        throw new FileProblem(
          `The file ${file.name} in the zip was changed or damaged: its checksum differs. Export the workspace again.`,
        )
      records[file.name as WorkspaceFileName] = file.records
    }
    return { manifest: archive.manifest, records, fileBytes: archive.fileBytes }
  } finally {
    await archive.close()
  }
}

const TELL_BYTES = 16 * 1024 * 1024
