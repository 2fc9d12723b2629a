// Batches that another process has described and hands over, since the engine and the numbers of batches belong to the
// ship worker: a directory in `incoming`, under its name only once it is whole. The worker makes each of its files the
// next batch of its own, by one rename, so that a file is either still to be taken or taken, and never both.

import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeError, log } from '../../../lib/log.ts'
import { syncToDisk } from '../../../storage/sync-to-disk.ts'
import {
  type BatchFile,
  type ClickCount,
  countClick,
  type SpoolPosition,
  toBatchFileName,
} from './batch-file.ts'
import { readHits } from './batch-reader.ts'

const IMPORT_NAME = /^[\w-]+$/
const UNFINISHED = '.tmp'
/** Whoever fills one still is done with it long before. */
const UNFINISHED_FOR_MS = 60 * 60 * 1000
/** How long files that cannot be taken are left alone. */
const RETRY_MS = 60_000

const toIncomingPath = (dataDir: string) => join(dataDir, 'incoming')

export interface HitImport {
  /** Another file, of `Hit`s as lines of JSON, oldest first. Not above some ten thousand: others' hits wait for it. */
  add(lines: string): Promise<void>
  /** From here on they will be counted, once, by the server that runs or by the next one. */
  finish(): Promise<void>
  discard(): Promise<void>
  /** Whether all of it has become batches. */
  isImported(): Promise<boolean>
}

/** @param name of the directory; letters, digits and `-` */
export async function createHitImport(dataDir: string, name: string): Promise<HitImport> {
  const incoming = toIncomingPath(dataDir)
  const finished = join(incoming, name)
  const unfinished = finished + UNFINISHED
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  let files = 0
  return {
    async add(lines) {
      const file = await open(join(unfinished, `${String(++files).padStart(6, '0')}.ndjson`), 'wx', 0o600)
      try {
        await file.writeFile(lines)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async finish() {
      await syncToDisk(unfinished)
      await rename(unfinished, finished)
      await syncToDisk(incoming)
    },
    discard: () => rm(unfinished, { recursive: true, force: true }),
    isImported: async () => !(await readdir(incoming)).includes(name),
  }
}

export interface HitImporter {
  /** Whether there is a file to be taken. */
  hasFiles(): boolean
  /** Reads the next file, so that to take it is short. @returns whether there is one */
  prepareNext(): Promise<boolean>
  /** Makes the file that was read the next batch. Not while batches are written. @throws when the disk does */
  importNext(): Promise<void>
}

export interface HitImporterNeeds {
  dataDir: string
  /** Where this node's batches are. */
  dir: string
  node: string
  lastNumber(): number
  /** Up to where in the spool batches go. */
  position(): SpoolPosition
  onBatch(batch: BatchFile, counts: ClickCount[]): void
}

export function createHitImporter(needs: HitImporterNeeds): HitImporter {
  const { dir, node } = needs
  const incoming = toIncomingPath(needs.dataDir)
  let read: { path: string; counts: ClickCount[] } | null = null
  /** Renamed, and not known to be on the disk yet. */
  let taken: { batch: BatchFile; counts: ClickCount[]; from: string } | null = null
  let notBefore = 0

  /** What another user owns must not hold up the hits of this one. */
  async function careful<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      notBefore = Date.now() + RETRY_MS
      log.error('hits_not_taken_in', { directory: incoming, ...describeError(error) })
      return undefined
    }
  }

  async function next(): Promise<string | undefined> {
    for (const name of listPendingImports(incoming)) {
      const path = join(incoming, name)
      const [file] = (await readdir(path)).sort()
      if (file !== undefined) return join(path, file)
      await rmdir(path)
    }
    return undefined
  }

  async function move({ path, counts }: NonNullable<typeof read>) {
    const number = needs.lastNumber() + 1
    const end = needs.position()
    const { size, mtimeMs } = await stat(path)
    const batch = {
      node,
      number,
      path: join(dir, toBatchFileName(number, end)),
      end,
      bytes: size,
      writtenAt: mtimeMs,
    }
    await rename(path, batch.path)
    return { batch, counts, from: dirname(path) }
  }

  return {
    hasFiles: () => taken !== null || (Date.now() >= notBefore && listPendingImports(incoming).length > 0),
    async prepareNext() {
      while (read === null && taken === null && Date.now() >= notBefore) {
        const path = await careful(next)
        if (path === undefined) return false
        const counts = await careful(() => countValidBatch(path))
        if (counts === null) await careful(() => quarantineFile(path, dir))
        else if (counts !== undefined) read = { path, counts }
      }
      return read !== null || taken !== null
    },
    async importNext() {
      const ready = read
      read = null
      if (ready) taken = (await careful(() => move(ready))) ?? null
      if (taken === null) return
      const { batch, counts, from } = taken
      // Its number is in use from the rename on: until the disk knows of it, no other batch gets one.
      await syncToDisk(dir)
      await syncToDisk(from)
      taken = null
      needs.onBatch(batch, counts)
    },
  }
}

/** Whether another process has handed something over. */
export const hasPendingImports = (dataDir: string) => listPendingImports(toIncomingPath(dataDir)).length > 0

const listPendingImports = (incoming: string) =>
  existsSync(incoming)
    ? readdirSync(incoming)
        .filter((name) => IMPORT_NAME.test(name))
        .sort()
    : []

/** null where a line is no hit: an engine would not take it, and hold up the batches behind it. */
async function countValidBatch(path: string): Promise<ClickCount[] | null> {
  const counts = new Map<number, ClickCount>()
  for await (const hit of readHits(path)) {
    if (hit === null) return null
    countClick(counts, hit.class, hit)
  }
  return [...counts.values()]
}

/** Beside the batches, where what is unreadable goes when a workspace is erased. */
async function quarantineFile(path: string, dir: string): Promise<void> {
  const movedTo = join(dir, `incoming-${Date.now().toString(36)}.unreadable`)
  await rename(path, movedTo)
  log.error('hit_batch_unreadable', { path, movedTo })
}

/** Removes what a command that was killed has left unfinished. */
export async function pruneUnfinishedImports(dataDir: string, now: number): Promise<void> {
  const incoming = toIncomingPath(dataDir)
  if (!existsSync(incoming)) return
  for (const name of await readdir(incoming)) {
    if (!name.endsWith(UNFINISHED)) continue
    const path = join(incoming, name)
    const { mtimeMs } = await stat(path)
    if (now - mtimeMs > UNFINISHED_FOR_MS) await rm(path, { recursive: true, force: true })
  }
}
