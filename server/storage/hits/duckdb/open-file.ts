// Opens a DuckDB file whatever state a crash, a full disk or a bad disk left it in. The batches are the truth and this
// file an index of them, so what cannot be read is set aside and the marks say what to load again.

import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { syncToDisk } from '../../sync-to-disk.ts'
import { quoteLiteral } from './values.ts'

export interface DuckDbFileOptions {
  path: string
  memoryLimitMb: number
  threads: number
  /** The only ones it may use: where batches are read from, and where exports are written to. */
  directories: string[]
}

/** What went wrong lies outside the file: it would fail the same with a new one, so nothing must be set aside. */
const NOT_CORRUPTION = [
  /could not set lock|conflicting lock|unique file handle conflict/i,
  /permission denied|read-only file system|no such file or directory|is a directory|too many open files/i,
  /no space left|disk quota|file too large|out of memory|failed to allocate/i,
  // Written by a newer DuckDB: an operator went back a version, which is theirs to undo.
  /newer version|version number \d+, but we can only read/i,
  // A statement of ours that does not fit the file: another release's, or our mistake.
  /^(catalog|binder|parser) error(?!.*replaying wal)|failed to set config/i,
]

/** The engine's own words are all it says about an error. */
const isCorruption = (error: unknown) =>
  error instanceof Error && !NOT_CORRUPTION.some((pattern) => pattern.test(error.message))

/** @param thorough read all of it: for a file about which there is doubt. */
export type DuckDbFilePreparer = (instance: DuckDBInstance, thorough: boolean) => Promise<void>

/** Where whoever keeps the engine puts its backups (`HitEngine.backup`). */
export const toBackupPath = (path: string) => `${path}.backup`

/** Damage inside the data shows only when somebody reads it; this makes the next opening set the file aside. */
export const toDamageMarkerPath = (path: string) => `${path}.unreadable`

/**
 * Tries the file; then the file without its write-ahead log; then the last backup; then an empty one. `prepare` reads
 * enough of it to know. Throws only for what is not corruption (a lock, a right, a full disk).
 */
export async function openDuckDbFile(
  settings: DuckDbFileOptions,
  prepare: DuckDbFilePreparer,
): Promise<DuckDBInstance> {
  const { path } = settings
  let step = 0
  // Each remedy sets aside more than the one before; with nothing left to set aside the file is new.
  const remedies = [
    {
      next: 'without its log',
      apply: () => quarantine([`${path}.wal`, `${path}.wal.checkpoint`, `${path}.wal.recovery`]),
    },
    { next: 'from the backup', apply: () => restoreBackup(path) },
    { next: 'empty', apply: () => quarantineAll(path) },
  ]
  if (existsSync(toDamageMarkerPath(path))) {
    log.error('hits.duckdb_unreadable', { path, next: 'from the backup' })
    await restoreBackup(path)
    await rm(toDamageMarkerPath(path))
    step = 2
  }
  // Batches older than the backup are gone: an empty file in its place would be without their hits.
  if (!existsSync(path) && existsSync(toBackupPath(path))) {
    log.error('hits.duckdb_missing', { path, next: 'from the backup' })
    await restoreBackup(path)
  }
  for (; ; step++) {
    try {
      return await openOnce(settings, (instance) => prepare(instance, step === 2))
    } catch (error) {
      const remedy = remedies[step]
      if (!remedy || !isCorruption(error)) throw error
      log.error('hits.duckdb_corrupt', { path, next: remedy.next, ...describeError(error) })
      await remedy.apply()
    }
  }
}

async function openOnce(settings: DuckDbFileOptions, prepare: (instance: DuckDBInstance) => Promise<void>) {
  const instance = await DuckDBInstance.create(settings.path, {
    memory_limit: `${settings.memoryLimitMb}MB`,
    threads: String(settings.threads),
    temp_directory: `${settings.path}.tmp`,
    // Nothing is ever fetched: what we need (JSON) is built in.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // Order is not asked for, and keeping it costs memory on large loads.
    preserve_insertion_order: 'false',
    // Gives memory back by itself. Without it the process stays as big as the biggest question made it: exact visitors
    // of 10 million hits peaked at 591 MB and left 409, with it 396 and 97.
    allocator_background_threads: 'true',
  })
  try {
    const connection = await instance.connect()
    const directories = settings.directories.map((path) => quoteLiteral(`${resolve(path)}/`))
    await connection.run(`SET allowed_directories = [${directories}]`)
    await connection.run('SET enable_external_access = false')
    await connection.run('SET lock_configuration = true')
    connection.closeSync()
    await prepare(instance)
    return instance
  } catch (error) {
    instance.closeSync()
    throw error
  }
}

/** Names what was set aside by the moment, so that a second accident does not overwrite the first one's evidence. */
async function quarantine(paths: string[]) {
  const suffix = `.corrupt-${Date.now()}`
  for (const path of paths) if (existsSync(path)) await rename(path, `${path}${suffix}`)
}

const quarantineAll = (path: string) =>
  quarantine([path, `${path}.wal`, `${path}.wal.checkpoint`, `${path}.wal.recovery`])

async function restoreBackup(path: string) {
  await quarantineAll(path)
  if (existsSync(toBackupPath(path))) await copyDurably(toBackupPath(path), path)
}

/**
 * The copy has its name only once all of it is on the disk. Another process makes it: closing any descriptor of a file
 * drops every lock its process holds on it (POSIX), so a copy made here would let a second server open our database.
 */
export async function copyDurably(from: string, to: string) {
  const half = `${to}.half`
  try {
    await copyInChildProcess(from, half)
    await syncToDisk(half)
    await rename(half, to)
    await syncToDisk(dirname(to))
  } finally {
    await rm(half, { force: true })
  }
}

/** Shares the blocks where the file system can, so that gigabytes are copied at once. */
const COPY_SCRIPT =
  "const fs = require('node:fs'); fs.copyFileSync(process.argv[1], process.argv[2], fs.constants.COPYFILE_FICLONE)"

async function copyInChildProcess(from: string, to: string) {
  // In a compiled server the executable is itself; the variable makes it Bun.
  const child = Bun.spawn([process.execPath, '-e', COPY_SCRIPT, from, to], {
    env: { BUN_BE_BUN: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(`Copying ${from} to ${to} failed: ${said.trim()}`)
}
