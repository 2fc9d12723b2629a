// Takes the files of submissions out of an archive: into the file store before the rows of their batch, as the endpoint
// does. What no row names afterwards is deleted at once; after a crash, the sweep does it.

import { createHash } from 'node:crypto'
import type { Database } from '../../../storage/database/open-database.ts'
import { toHarmlessName } from '../../forms/uploads/file-name.ts'
import type { Uploads } from '../../forms/uploads/open-uploads.ts'
import { createTypeSniffer } from '../../forms/uploads/sniff-type.ts'
import type { SubmittedFile } from '../../forms/uploads/submitted-file.ts'
import { type Archive, openArchive } from '../archive/open-archive.ts'
import type { RecordBatch } from '../archive/read-archive-records.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import { FILE_FOLDER } from '../export/stream-files.ts'

interface ArchiveFilesNeeds {
  db: Database
  workspaceId: number
  uploads: Pick<Uploads, 'store' | 'unfinished'>
}

/** By the id of a submission in the archive. */
export type ArchiveFilesById = Map<number, SubmittedFile[]>

export interface ArchiveFiles {
  /** Stores the files of a batch. One that is missing or damaged is left out. */
  receive(batch: RecordBatch): Promise<ArchiveFilesById>
  /** Deletes those that have no row. */
  settle(received: ArchiveFilesById): Promise<void>
  close(): Promise<void>
}

export function openArchiveFiles(needs: ArchiveFilesNeeds, path: string): ArchiveFiles {
  let archive: Promise<Archive> | undefined
  return {
    async receive(batch) {
      const received: ArchiveFilesById = new Map()
      if (batch.file !== 'submissions.ndjson') return received
      try {
        for (const { record } of batch.readings) {
          if (!record || record.files.length === 0) continue
          archive ??= openArchive(path)
          const files: SubmittedFile[] = []
          received.set(record.id, files)
          for (const file of record.files) {
            const stored = await storeFile(needs, await archive, file)
            if (stored) files.push(stored)
          }
        }
        return received
      } catch (error) {
        await discardAll(needs, [...received.values()].flat())
        throw error
      }
    },
    async settle(received) {
      const files = [...received.values()].flat()
      if (files.length === 0) return
      const keys = files.map(({ draft }) => draft.key)
      const rows = await needs.db.read
        .selectFrom('submission_files')
        .select('key')
        .where('workspace_id', '=', needs.workspaceId)
        .where('key', 'in', keys)
        .execute()
      const known = new Set(rows.map(({ key }) => key))
      await discardAll(
        needs,
        files.filter(({ draft }) => !known.has(draft.key)),
      )
      for (const key of known) needs.uploads.unfinished.delete(key)
    },
    async close() {
      await (await archive)?.close()
    },
  }
}

type FileRecord = ArchiveRecord<'submissions.ndjson'>['files'][number]

/** @returns undefined where the archive lacks the file, or has another one */
async function storeFile(
  { uploads }: ArchiveFilesNeeds,
  archive: Archive,
  { field, name, path, sha256 }: FileRecord,
): Promise<SubmittedFile | undefined> {
  const draft = await uploads.store.create()
  uploads.unfinished.add(draft.key)
  const hash = createHash('sha256')
  const sniffer = createTypeSniffer()
  let bytes = 0
  try {
    for await (const chunk of archive.read(`${FILE_FOLDER}${path}`)) {
      hash.update(chunk)
      sniffer.add(chunk)
      bytes += chunk.byteLength
      await draft.write(chunk)
    }
    if (hash.digest('hex') === sha256) {
      await draft.commit()
      const { type } = await sniffer.finish()
      return { field, name: toHarmlessName(name), type, bytes, sha256, draft }
    }
  } catch (error) {
    await discardDraft(uploads, draft)
    throw error
  }
  await discardDraft(uploads, draft)
  return undefined
}

async function discardDraft(uploads: ArchiveFilesNeeds['uploads'], draft: SubmittedFile['draft']) {
  await draft.discard()
  uploads.unfinished.delete(draft.key)
}

async function discardAll({ uploads }: ArchiveFilesNeeds, files: SubmittedFile[]): Promise<void> {
  for (const { draft } of files) await discardDraft(uploads, draft)
}
