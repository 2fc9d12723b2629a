// Unpacks the files of submissions from an archive into the file store, before the rows of their batch, as the form endpoint
// does. Files without a row are deleted immediately, or after a crash by the sweep.

import { createHash } from 'node:crypto'
import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import { toHarmlessName } from '../../forms/uploads/file-name.ts'
import { createTypeSniffer } from '../../forms/uploads/sniff-type.ts'
import type { SubmittedFile } from '../../forms/uploads/submitted-file.ts'
import type { Uploads } from '../../forms/uploads/uploads.ts'
import { type Archive, openArchive } from '../archive/open-archive.ts'
import type { RecordBatch } from '../archive/read-archive-records.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import { FILE_FOLDER } from '../export/stream-files.ts'
import { FileProblem } from '../files/source-file.ts'
import type { ArchiveFilesById } from './archive-import.ts'
import { findItems, hasItems, type ItemSearch } from './item-keys.ts'

export interface ArchiveFilesNeeds {
  db: Database
  uploads: Pick<Uploads, 'store' | 'unfinished' | 'bytesPerWorkspace'>
  disk: Pick<DiskSpace, 'hasRoomFor' | 'hold'>
}

type ArchiveOwner = ItemSearch['run']

export interface ArchiveFiles {
  /**
   * Stores the files of the new submissions of a batch. A missing or damaged file is left out.
   * @throws FileProblem if the disk has no space for them
   */
  receive(batch: RecordBatch): Promise<ArchiveFilesById>
  /** Deletes the files without a row. */
  settle(received: ArchiveFilesById): Promise<void>
  close(): Promise<void>
}

/**
 * Checks before anything is stored that all files of an archive fit into the workspace and on the disk. If a part of them is
 * already stored, each batch is checked instead. @throws FileProblem
 */
export async function requireRoomForFiles(
  run: ArchiveOwner,
  { db, uploads, disk }: ArchiveFilesNeeds,
  bytes: number,
): Promise<void> {
  if (await hasItems({ run, connection: db.read }, 'submission')) return
  if (bytes > (await readRoom(db, uploads, run.actor.workspaceId)))
    throw new FileProblem(
      `The zip has files of ${formatBytes(bytes)}, and the workspace has no room for them: all of its files may have ` +
        `${formatBytes(uploads.bytesPerWorkspace)} (UPLOAD_BYTES_PER_WORKSPACE). Nothing is imported.`,
    )
  if (!uploads.store.isShared && !disk.hasRoomFor(bytes))
    throw new FileProblem(`${toDiskProblem(bytes)} Nothing is imported.`)
}

const toDiskProblem = (bytes: number) =>
  `The disk of this server has no room for files of ${formatBytes(bytes)} from the zip.`

/** @param requireRunning called while files are unpacked; its error stops the unpacking */
export function openArchiveFiles(
  run: ArchiveOwner,
  needs: ArchiveFilesNeeds,
  path: string,
  requireRunning: () => Promise<void>,
): ArchiveFiles {
  const { workspaceId } = run.actor
  let archive: Promise<Archive> | undefined
  return {
    async receive(batch) {
      const received: ArchiveFilesById = new Map()
      const records = await listNewRecords(run, needs, batch)
      if (records.length === 0) return received
      archive ??= openArchive(path)
      const opened = await archive
      let room = await readRoom(needs.db, needs.uploads, workspaceId)
      for (const { id, files } of records) {
        const bytes = sumBytes(opened, files)
        received.set(id, bytes > room ? null : [])
        if (bytes <= room) room -= bytes
      }
      const wanted = records.filter(({ id }) => received.get(id))
      const release = holdRoom(
        needs,
        sumBytes(
          opened,
          wanted.flatMap(({ files }) => files),
        ),
      )
      try {
        for (const { id, files } of wanted)
          for (const file of files) {
            const stored = await storeFile(needs, opened, file, requireRunning)
            if (stored) received.get(id)?.push(stored)
          }
        return received
      } catch (error) {
        await discardAll(needs, listFiles(received))
        throw error
      } finally {
        release()
      }
    },
    async settle(received) {
      const files = listFiles(received)
      if (files.length === 0) return
      const keys = files.map(({ draft }) => draft.key)
      const rows = await needs.db.read
        .selectFrom('submission_files')
        .select('key')
        .where('workspace_id', '=', workspaceId)
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

const listFiles = (received: ArchiveFilesById) => [...received.values()].flatMap((files) => files ?? [])

type SubmissionRecord = ArchiveRecord<'submissions.ndjson'>

/** New submissions with files, without those that were imported before or whose form does not exist here. */
async function listNewRecords(
  run: ArchiveOwner,
  { db }: ArchiveFilesNeeds,
  batch: RecordBatch,
): Promise<SubmissionRecord[]> {
  if (batch.file !== 'submissions.ndjson') return []
  const records = batch.readings.flatMap(({ record }) => (record && record.files.length > 0 ? [record] : []))
  const known = { run, connection: db.read }
  const ids = records.map(({ id }) => id)
  const before = await findItems(known, 'submission', ids)
  const keys = [...new Set(records.map(({ formKey }) => formKey))]
  const forms = await findItems(known, 'form', keys)
  return records.filter(
    // Only the first of two records with one id counts.
    ({ id, formKey }, index) => !before.has(id) && forms.has(formKey) && ids.indexOf(id) === index,
  )
}

/** The free bytes for files of the workspace. */
async function readRoom(
  db: Database,
  { bytesPerWorkspace }: Pick<Uploads, 'bytesPerWorkspace'>,
  workspaceId: number,
): Promise<number> {
  const total = await db.read
    .selectFrom('upload_totals')
    .select('bytes')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return bytesPerWorkspace - Number(total?.bytes ?? 0)
}

/** Reserves space. @returns a function that releases it. @throws FileProblem */
function holdRoom({ uploads, disk }: ArchiveFilesNeeds, bytes: number): () => void {
  if (uploads.store.isShared) return () => {}
  const release = disk.hold(bytes)
  if (release) return release
  throw new FileProblem(
    `${toDiskProblem(bytes)} Imported items stay. Import the zip again when there is room: nothing is created twice.`,
  )
}

type FileRecord = SubmissionRecord['files'][number]

const sumBytes = (archive: Archive, files: FileRecord[]) =>
  files.reduce((sum, { path }) => sum + (archive.findFileBytes(path) ?? 0), 0)

/** While a file is unpacked, the import is checked for a cancellation after this many bytes. */
const ASK_EVERY_BYTES = 4 * 1024 * 1024

/** @returns undefined if the archive does not have the file, or has another one */
async function storeFile(
  { uploads }: ArchiveFilesNeeds,
  archive: Archive,
  { field, name, path, sha256 }: FileRecord,
  requireRunning: () => Promise<void>,
): Promise<SubmittedFile | undefined> {
  await requireRunning()
  if (archive.findFileBytes(path) === undefined) return undefined
  const draft = await uploads.store.create()
  uploads.unfinished.add(draft.key)
  const hash = createHash('sha256')
  const sniffer = createTypeSniffer()
  let bytes = 0
  let asked = 0
  try {
    for await (const chunk of archive.read(`${FILE_FOLDER}${path}`)) {
      hash.update(chunk)
      sniffer.add(chunk)
      bytes += chunk.byteLength
      await draft.write(chunk)
      if (bytes - asked < ASK_EVERY_BYTES) continue
      asked = bytes
      await requireRunning()
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
