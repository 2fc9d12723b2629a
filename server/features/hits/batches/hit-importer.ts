// The hit worker's side of hit imports: turns each file of an import into the next batch of this node. One rename moves the
// file, so a file is either pending or imported, never both.

import { readdir, rename, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeError, log } from '../../../lib/log.ts'
import { quarantine, toUnreadablePath } from '../../../storage/quarantine.ts'
import { syncToDisk } from '../../../storage/write-durably.ts'
import type { SpoolPosition } from '../spool/position.ts'
import { type BatchFile, toBatchFileName } from './batch-file.ts'
import { readHits } from './batch-reader.ts'
import type { BatchSequence } from './batch-writer.ts'
import { type ClickCount, countClick } from './click-counts.ts'
import { listPendingImports, toIncomingPath } from './hit-import.ts'

/** Pause before the importer retries a file that it could not read or move. */
const RETRY_MS = 60_000

export interface HitImporter {
  /** @returns true if a file waits to be imported */
  hasFiles(): boolean
  /** Reads the next file in advance, so that `importNext` is fast. @returns true if there is a file to import */
  prepareNext(): Promise<boolean>
  /** Turns the prepared file into the next batch. Do not call it while batches are written. @throws when the disk fails */
  importNext(): Promise<void>
}

export interface HitImporterNeeds extends BatchSequence {
  dataDir: string
  /** The batches have every hit before this position of the spool. */
  position(): SpoolPosition
}

interface PreparedFile {
  path: string
  counts: ClickCount[]
}

interface ImporterState {
  readonly needs: HitImporterNeeds
  /** The file that was read. */
  prepared: PreparedFile | null
  /** The renamed file with a new name that may not be on the disk yet. */
  moved: { batch: BatchFile; counts: ClickCount[]; from: string } | null
  notBefore: number
}

export function createHitImporter(needs: HitImporterNeeds): HitImporter {
  const importer: ImporterState = { needs, prepared: null, moved: null, notBefore: 0 }
  return {
    hasFiles: () =>
      importer.moved !== null ||
      (performance.now() >= importer.notBefore && listPendingImports(needs.dataDir).length > 0),
    prepareNext: () => prepareNext(importer),
    importNext: () => importNext(importer),
  }
}

async function prepareNext(importer: ImporterState): Promise<boolean> {
  while (importer.prepared === null && importer.moved === null && performance.now() >= importer.notBefore) {
    const path = await attempt(importer, () => findNextFile(importer.needs.dataDir))
    if (path === undefined) return false
    const counts = await attempt(importer, () => countIntactFile(path))
    if (counts === null) await attempt(importer, () => quarantineFile(path, importer.needs.dir))
    else if (counts !== undefined) importer.prepared = { path, counts }
  }
  return importer.prepared !== null || importer.moved !== null
}

async function importNext(importer: ImporterState): Promise<void> {
  const { needs, prepared } = importer
  importer.prepared = null
  if (prepared) importer.moved = (await attempt(importer, () => moveToBatches(needs, prepared))) ?? null
  if (importer.moved === null) return
  const { batch, counts, from } = importer.moved
  // The rename uses up the batch's number. Until the rename is on the disk, no other batch gets a number.
  await syncToDisk(needs.dir)
  await syncToDisk(from)
  importer.moved = null
  needs.onBatch(batch, counts)
}

/**
 * Logs a failure and returns undefined. An unreadable import, for example of another user, must not delay the hits of
 * the spool.
 */
async function attempt<T>(importer: ImporterState, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    importer.notBefore = performance.now() + RETRY_MS
    log.error('hits_not_taken_in', {
      directory: toIncomingPath(importer.needs.dataDir),
      ...describeError(error),
    })
    return undefined
  }
}

/** Finds the next file, and deletes imports that have no files left. */
async function findNextFile(dataDir: string): Promise<string | undefined> {
  for (const name of listPendingImports(dataDir)) {
    const path = join(toIncomingPath(dataDir), name)
    const [file] = (await readdir(path)).sort()
    if (file !== undefined) return join(path, file)
    await rmdir(path)
  }
  return undefined
}

/** Returns null if a line is not a valid hit, because the engine would refuse the file and so all later batches. */
async function countIntactFile(path: string): Promise<ClickCount[] | null> {
  const counts = new Map<number, ClickCount>()
  for await (const hit of readHits(path)) {
    if (hit === null) return null
    countClick(counts, hit.class, hit)
  }
  return [...counts.values()]
}

/** Moves the file beside the batches, where erasing a workspace deletes unreadable files. */
async function quarantineFile(path: string, batchDir: string): Promise<void> {
  const movedTo = toUnreadablePath(join(batchDir, `incoming-${Date.now().toString(36)}`))
  await quarantine(path, movedTo)
  log.error('hit_batch_unreadable', { path, movedTo })
}

async function moveToBatches(needs: HitImporterNeeds, { path, counts }: PreparedFile) {
  const { dir, node } = needs
  const number = needs.lastNumber() + 1
  const end = needs.position()
  const { size, mtimeMs } = await stat(path)
  const batchPath = join(dir, toBatchFileName(number, end))
  const batch = { node, number, path: batchPath, end, bytes: size, writtenAt: mtimeMs }
  await rename(path, batchPath)
  return { batch, counts, from: dirname(path) }
}
