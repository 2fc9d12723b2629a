// Batch files: the permanent record of enriched hits. A batch is immutable, numbered per node, and named
// `<number>-<segment>-<offset>.ndjson` after its end in the spool, so that a listing of the directory has all facts.
// Batches for ClickHouse, which can wait for hours, are compressed, and their names end in `.ndjson.zst`.

import { existsSync, writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toZstdFrame } from '../../../lib/formats/zstd-frames.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { renameDurably } from '../../../storage/write-durably.ts'
import type { SpoolPosition } from '../spool/position.ts'

export interface BatchFile extends Batch {
  /** This batch and earlier ones have every hit before this position of the spool. */
  end: SpoolPosition
  bytes: number
  /** Milliseconds since the epoch. */
  writtenAt: number
}

/** Raise it when an older release cannot load the batches of this one (open-rows.ts). */
export const BATCH_FORMAT = 2
const BATCH_FILE_NAME = /^(\d{10})-(\d{10})-(\d{10})\.ndjson(?:\.zst)?$/
const padNumber = (number: number) => String(number).padStart(10, '0')

export const toBatchFileName = (number: number, end: SpoolPosition, isCompressed = false) =>
  `${padNumber(number)}-${padNumber(end.seq)}-${padNumber(end.offset)}.ndjson${isCompressed ? '.zst' : ''}`

/** The bytes of some lines in a batch file: each piece is compressed separately. */
export const toBatchBytes = (path: string, lines: Uint8Array | string): Uint8Array | string =>
  isCompressedBatch(path) ? toZstdFrame(lines) : lines

export const isCompressedBatch = (path: string) => path.endsWith('.zst')

export const toBatchDirectory = (dataDir: string, node: string) => join(dataDir, 'batches', node)

/** The nodes with batches in a data directory: its own node, and those of directories that it was copied from. */
export async function listBatchNodes(dataDir: string): Promise<string[]> {
  const dir = join(dataDir, 'batches')
  const entries = existsSync(dir) ? await readdir(dir, { withFileTypes: true }) : []
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Lists a node's batches in order. Deletes unfinished files of a crash: their hits are still in the spool. */
export async function listBatches(dir: string, node: string): Promise<BatchFile[]> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(dir)) if (name.endsWith('.tmp')) await rm(join(dir, name), { force: true })
  return readBatches(dir, node)
}

/** Lists a node's batches in order and changes nothing, because another process may write and delete batches. */
export const findBatches = (dataDir: string, node: string): Promise<BatchFile[]> =>
  readBatches(toBatchDirectory(dataDir, node), node)

async function readBatches(dir: string, node: string): Promise<BatchFile[]> {
  const batches: BatchFile[] = []
  for (const name of await readdir(dir)) {
    const parts = BATCH_FILE_NAME.exec(name)
    if (!parts) continue
    const [number = 0, seq = 0, offset = 0] = parts.slice(1).map(Number)
    const path = join(dir, name)
    const stats = await stat(path).catch(ignoreAbsent)
    if (stats)
      batches.push({ node, number, path, end: { seq, offset }, bytes: stats.size, writtenAt: stats.mtimeMs })
  }
  return batches.sort((a, b) => a.number - b.number)
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** A batch that is being written. Its file exists once `finish` has resolved. */
export interface OpenBatch {
  hits: number
  /** Writes the lines of some hits. */
  add(lines: Uint8Array, hits: number): Promise<void>
  /** Resolves when the batch is on the disk under its name. */
  finish(end: SpoolPosition): Promise<BatchFile>
  discard(): Promise<void>
}

/** Early syncs run while hits are enriched, and make the sync at the end short. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

export async function createBatch(
  { dir, node, isCompressed }: { dir: string; node: string; isCompressed: boolean },
  number: number,
): Promise<OpenBatch> {
  const unfinished = join(dir, `${padNumber(number)}.tmp`)
  const file: FileHandle = await open(unfinished, 'w', 0o600)
  const paths = [unfinished]
  let bytes = 0
  let synced = 0
  let syncing = Promise.resolve()

  const batch: OpenBatch = {
    hits: 0,
    async add(lines, hits) {
      const written = isCompressed ? toZstdFrame(lines) : lines
      // A synchronous write into the kernel's memory: the thread pool may be busy with an engine's work.
      for (let at = 0; at < written.length; ) at += writeSync(file.fd, written, at)
      batch.hits += hits
      bytes += written.length
      if (bytes - synced < SYNC_EVERY_BYTES) return
      await syncing
      synced = bytes
      syncing = observeRejection(file.datasync())
    },
    async finish(end) {
      await syncing
      await file.sync()
      await file.close()
      const path = join(dir, toBatchFileName(number, end, isCompressed))
      paths.push(path)
      await renameDurably(unfinished, path)
      return { node, number, path, end, bytes, writtenAt: Date.now() }
    },
    async discard() {
      await syncing.catch(() => undefined)
      await file.close()
      // Deletes both names: an unsynced batch must not exist together with its successor.
      for (const path of paths) await rm(path, { force: true })
    },
  }
  return batch
}

/** Prevents an unhandled rejection until the caller awaits the work and gets its error. */
function observeRejection(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}
