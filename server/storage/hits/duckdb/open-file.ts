// Opens a DuckDB file in any state after a crash, a full disk or a bad disk. The batches are the permanent record, and the
// file is an index of them. So an unreadable file is quarantined, and batches above the marks of its successor are loaded
// again.

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { quarantine } from '../../quarantine.ts'
import { renameDurably, syncToDisk } from '../../write-durably.ts'
import {
  listLeftoverPaths,
  toBackupPath,
  toDamageMarkerPath,
  toHalfCopyPath,
  toSpillPath,
} from './hit-file.ts'
import { quoteLiteral } from './values.ts'

export interface DuckDbFileOptions {
  path: string
  memoryLimitMb: number
  threads: number
  /** The only directories that the engine may use: for reading batches and for writing exports. */
  directories: string[]
}

/** Errors with a cause outside the file. A new file would fail too, so no file must be quarantined. */
const NOT_CORRUPTION = [
  /could not set lock|conflicting lock|unique file handle conflict/i,
  /permission denied|read-only file system|no such file or directory|is a directory|too many open files/i,
  // A wrong size in the log can request more memory than there is. DuckDB's error is the same when memory is really short.
  // The log is set aside in both cases, and the batches above the mark are loaded again.
  /no space left|disk quota|file too large|out of memory(?!.*replaying wal.*allocation failure)|failed to allocate/i,
  // The file is of a newer DuckDB: an operator went back to an older version, and must undo that.
  /newer version|version number \d+, but we can only read/i,
  // One of our statements does not fit the file: the file is of another release, or the statement is wrong.
  /^(catalog|binder|parser) error(?!.*replaying wal)|failed to set config/i,
]

/** DuckDB's errors only have a message. */
const isCorruption = (error: unknown) =>
  error instanceof Error && !NOT_CORRUPTION.some((pattern) => pattern.test(error.message))

export interface DuckDbFilePreparer {
  /** Reads enough of a file to find corruption. @param isThorough reads every value, for a file that may be damaged */
  prepare(instance: DuckDBInstance, isThorough: boolean): Promise<void>
  /** Drops data that the engine can build again, without reading it. */
  salvage(instance: DuckDBInstance): Promise<void>
}

/**
 * Tries the file, then the file without its write-ahead log, then the last backup, and then an empty file. A file with known
 * damage is kept if all data that cannot be built again is readable. Call it only if no other process can use
 * the file: leftovers of a killed process are deleted.
 * @throws only when the cause is not corruption (a lock, a permission, a full disk)
 */
export async function openDuckDbFile(
  settings: DuckDbFileOptions,
  preparer: DuckDbFilePreparer,
): Promise<DuckDBInstance> {
  const { path } = settings
  const { prepare } = preparer
  await deleteLeftovers(path)
  let step = 0
  // Each remedy quarantines more than the previous one. After the last one the file is new.
  const remedies = [
    {
      next: 'without its log',
      apply: () => quarantineCorrupt(toLogPaths(path)),
    },
    { next: 'from the backup', apply: () => restoreBackup(path) },
    { next: 'empty', apply: () => quarantineDatabase(path) },
  ]
  if (existsSync(toDamageMarkerPath(path))) {
    const salvaged = await openSalvaged(settings, preparer)
    if (!salvaged) await restoreBackup(path)
    await rm(toDamageMarkerPath(path))
    if (salvaged) return salvaged
    step = 2
  }
  // Batches older than the backup are deleted, so an empty file instead of the backup would lack their hits.
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

/** @returns undefined if the file is still damaged */
async function openSalvaged(
  settings: DuckDbFileOptions,
  { prepare, salvage }: DuckDbFilePreparer,
): Promise<DuckDBInstance | undefined> {
  const { path } = settings
  if (!existsSync(path)) return undefined
  try {
    const instance = await openOnce(settings, async (instance) => {
      await salvage(instance)
      await prepare(instance, true)
    })
    log.warn('hits.duckdb_salvaged', { path })
    return instance
  } catch (error) {
    if (!isCorruption(error)) throw error
    log.error('hits.duckdb_unreadable', { path, next: 'from the backup', ...describeError(error) })
    return undefined
  }
}

async function openOnce(settings: DuckDbFileOptions, prepare: (instance: DuckDBInstance) => Promise<void>) {
  const instance = await DuckDBInstance.create(settings.path, {
    memory_limit: `${settings.memoryLimitMb}MB`,
    threads: String(settings.threads),
    temp_directory: toSpillPath(settings.path),
    // DuckDB must not download extensions. The one that we need (JSON) is built in.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // No question needs the insertion order, and keeping it costs memory on large loads.
    preserve_insertion_order: 'false',
    // Returns memory to the system. Without it the process keeps the memory of its largest question: exact
    // visitors of 10 million hits peaked at 591 MB and left 409; with it 396 and 97.
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

/** Call it while the file is closed, and no other process may open it. */
export async function deleteLeftovers(path: string): Promise<void> {
  for (const each of listLeftoverPaths(path)) await rm(each, { recursive: true, force: true })
}

const toLogPaths = (path: string) => [`${path}.wal`, `${path}.wal.checkpoint`, `${path}.wal.recovery`]

/** @returns true for a quarantined database of this name, or its log */
export const isQuarantinedName = (name: string, database: string) =>
  name.startsWith(database) && name.includes('.corrupt-')

/** The names contain the time, so that a second accident does not overwrite the evidence of the first. */
async function quarantineCorrupt(paths: string[]) {
  const suffix = `.corrupt-${Date.now()}`
  for (const path of paths) await quarantine(path, `${path}${suffix}`)
}

const quarantineDatabase = (path: string) => quarantineCorrupt([path, ...toLogPaths(path)])

async function restoreBackup(path: string) {
  await quarantineDatabase(path)
  if (existsSync(toBackupPath(path))) await copyDurably(toBackupPath(path), path)
}

/**
 * Copies a file. The copy gets its name once all of it is on the disk. A child process makes the copy, because closing
 * any descriptor of a file releases every lock of the process on this file (POSIX, fcntl). After a copy in this process, a
 * second server could open the database.
 */
export async function copyDurably(from: string, to: string): Promise<void> {
  const half = toHalfCopyPath(to)
  try {
    await copyInChildProcess(from, half)
    await syncToDisk(half)
    await renameDurably(half, to)
  } finally {
    await rm(half, { force: true })
  }
}

/** FICLONE shares the blocks if the file system can, so that gigabytes are copied at once. */
const COPY_SCRIPT =
  "const fs = require('node:fs'); fs.copyFileSync(process.argv[1], process.argv[2], fs.constants.COPYFILE_FICLONE)"

async function copyInChildProcess(from: string, to: string) {
  // A compiled server is its own executable. The variable makes it act as Bun: https://bun.sh/docs/bundler/executables.
  const child = Bun.spawn([process.execPath, '-e', COPY_SCRIPT, from, to], {
    env: { BUN_BE_BUN: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(`Copying ${from} to ${to} failed: ${stderr.trim()}`)
}
