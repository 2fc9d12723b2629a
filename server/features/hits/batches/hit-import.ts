// Hands hits from another process (a command) to the hit worker, which owns the engine and the numbers of batches. An
// import is a directory of files in `incoming`. It gets its final name once it is complete, and only then the worker
// sees it.

import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { renameDurably, syncToDisk, writeDurably } from '../../../storage/write-durably.ts'

const IMPORT_NAME = /^[\w-]+$/
const UNFINISHED = '.tmp'
/** Longer than any command takes to fill an import. */
const UNFINISHED_MAX_AGE_MS = 60 * 60 * 1000

export const toIncomingPath = (dataDir: string) => join(dataDir, 'incoming')

export interface HitImport {
  /**
   * Adds a file.
   * @param lines `Hit`s as lines of JSON, oldest first. At most some ten thousand, because hits of visitors wait for them.
   */
  add(lines: string): Promise<void>
  /** Completes the import. The running server, or the next one, counts each of its hits once. */
  finish(): Promise<void>
  discard(): Promise<void>
  /** @returns true if all files have become batches */
  isImported(): Promise<boolean>
}

/** @param name the directory's name: letters, digits and `-` */
export async function createHitImport(dataDir: string, name: string): Promise<HitImport> {
  const incoming = toIncomingPath(dataDir)
  const finished = join(incoming, name)
  const unfinished = finished + UNFINISHED
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  let files = 0
  return {
    async add(lines) {
      const path = join(unfinished, `${String(++files).padStart(6, '0')}.ndjson`)
      await writeDurably(path, (file) => file.writeFile(lines), 'wx')
    },
    async finish() {
      await syncToDisk(unfinished)
      await renameDurably(unfinished, finished)
    },
    discard: () => rm(unfinished, { recursive: true, force: true }),
    isImported: async () => !(await readdir(incoming)).includes(name),
  }
}

/** @returns true if another process has handed over hits */
export const hasPendingImports = (dataDir: string) => listPendingImports(dataDir).length > 0

/** The names of the complete imports. */
export function listPendingImports(dataDir: string): string[] {
  const incoming = toIncomingPath(dataDir)
  if (!existsSync(incoming)) return []
  return readdirSync(incoming)
    .filter((name) => IMPORT_NAME.test(name))
    .sort()
}

/** Deletes unfinished files of a killed command. */
export async function pruneUnfinishedImports(dataDir: string, now: number): Promise<void> {
  const incoming = toIncomingPath(dataDir)
  if (!existsSync(incoming)) return
  for (const name of await readdir(incoming)) {
    if (!name.endsWith(UNFINISHED)) continue
    const path = join(incoming, name)
    const { mtimeMs } = await stat(path)
    if (now - mtimeMs > UNFINISHED_MAX_AGE_MS) await rm(path, { recursive: true, force: true })
  }
}
