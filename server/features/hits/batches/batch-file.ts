// Batch files: the truth about described hits. Immutable, numbered per node, named
// `<number>-<segment>-<offset>.ndjson` after where in the spool they end, so that a listing tells all there is to know.

import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { log } from '../../../lib/log.ts'
import type { Hit, HitClass } from '../../../storage/hits/hit.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { syncToDisk } from '../../../storage/sync-to-disk.ts'
import { readHits } from './batch-reader.ts'

/** A place in the spool: everything before it is described. */
export interface SpoolPosition {
  seq: number
  offset: number
}

export const isBefore = (a: SpoolPosition, b: SpoolPosition) =>
  a.seq < b.seq || (a.seq === b.seq && a.offset < b.offset)

export interface BatchFile extends Batch {
  end: SpoolPosition
  bytes: number
  /** Milliseconds since the epoch. */
  writtenAt: number
}

/** What a batch adds to the counters of a link: its clicks by people, and the time of the last one. */
export type ClickCount = [linkId: number, clicks: number, lastAt: number]

const BATCH_FILE_NAME = /^(\d{10})-(\d{10})-(\d{10})\.ndjson$/
const padNumber = (number: number) => String(number).padStart(10, '0')

export const toBatchFileName = (number: number, end: SpoolPosition) =>
  `${padNumber(number)}-${padNumber(end.seq)}-${padNumber(end.offset)}.ndjson`

/** The batches of a node in order. What a crash left half-written is removed: its hits are still in the spool. */
export async function listBatches(dir: string, node: string): Promise<BatchFile[]> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const batches: BatchFile[] = []
  for (const name of await readdir(dir)) {
    if (name.endsWith('.tmp')) await rm(join(dir, name), { force: true })
    const parts = BATCH_FILE_NAME.exec(name)
    if (!parts) continue
    const [number = 0, seq = 0, offset = 0] = parts.slice(1).map(Number)
    const path = join(dir, name)
    const { size, mtimeMs } = await stat(path)
    batches.push({ node, number, path, end: { seq, offset }, bytes: size, writtenAt: mtimeMs })
  }
  return batches.sort((a, b) => a.number - b.number)
}

/** A batch being written. It exists from `finish` on, and not at all before. */
export interface OpenBatch {
  hits: number
  /** Takes the lines of some hits. */
  add(lines: Uint8Array, hits: number): Promise<void>
  /** Resolves when the batch is on the disk under its name. */
  finish(end: SpoolPosition): Promise<BatchFile>
  discard(): Promise<void>
}

// So that the disk is busy while hits are described, and the sync at the end waits for little.
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

export async function createBatch(dir: string, node: string, number: number): Promise<OpenBatch> {
  const unfinished = join(dir, `${padNumber(number)}.tmp`)
  const file: FileHandle = await open(unfinished, 'w', 0o600)
  let path = unfinished
  let bytes = 0
  let synced = 0
  let syncing = Promise.resolve()

  const batch: OpenBatch = {
    hits: 0,
    async add(lines, hits) {
      // At once, into the kernel's memory: the thread pool may be busy with an engine's work.
      for (let at = 0; at < lines.length; ) at += writeSync(file.fd, lines, at)
      batch.hits += hits
      bytes += lines.length
      if (bytes - synced < SYNC_EVERY_BYTES) return
      await syncing
      synced = bytes
      syncing = observeRejection(file.datasync())
    },
    async finish(end) {
      await syncing
      await file.sync()
      await file.close()
      const finished = join(dir, toBatchFileName(number, end))
      await rename(unfinished, finished)
      path = finished
      await syncToDisk(dir)
      return { node, number, path, end, bytes, writtenAt: Date.now() }
    },
    async discard() {
      await syncing.catch(() => undefined)
      await file.close()
      // Under either name: a batch whose directory could not be synced must not be there beside its successor.
      await rm(path, { force: true })
    },
  }
  return batch
}

/** Whoever awaits the work hears of its failure; until then it is nobody's unhandled rejection. */
function observeRejection(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}

type CountableHit = Pick<Hit, 'at' | 'linkId' | 'outcome'>

/** Adds a click by a person (nothing else is on a link's counter) to `counts`. */
export function countClick(counts: Map<number, ClickCount>, hitClass: HitClass, hit: CountableHit): void {
  if (hitClass !== 'human' || hit.outcome !== 'redirect' || hit.linkId === 0) return
  const count = counts.get(hit.linkId)
  if (count) {
    count[1]++
    count[2] = Math.max(count[2], hit.at)
  } else counts.set(hit.linkId, [hit.linkId, 1, hit.at])
}

/** Counts a batch from its file, as when it was written. Of a damaged one, what can be read. */
export async function countBatchClicks(batch: Batch): Promise<ClickCount[]> {
  const counts = new Map<number, ClickCount>()
  let damaged = 0
  for await (const hit of readHits(batch.path)) {
    if (hit) countClick(counts, hit.class, hit)
    else damaged++
  }
  if (damaged > 0) log.error('hit_batch_damaged', { path: batch.path, lines: damaged })
  return [...counts.values()]
}
