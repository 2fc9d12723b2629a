// Puts a backup into an empty data directory. Every file is compared with its SHA-256 on its way, and nothing is in its
// place before all of them are right.

import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { toSqlitePath } from '../../storage/database/open-reader.ts'
import { isKnownMigration, skipIds } from '../../storage/database/sqlite-snapshot.ts'
import { findShortage } from '../../storage/disk-space.ts'
import { tryToLockDataDir } from '../../storage/lock.ts'
import { syncToDisk } from '../../storage/write-durably.ts'
import { skipSegments } from '../hits/spool/segment.ts'
import { copyFile, hashFile } from './copy-file.ts'
import { type BackupFile, BackupProblem, type Manifest, readManifest } from './manifest.ts'
import { DATA, isInside, MANIFEST, SUMS, toRestoreDraft } from './places.ts'
import { syncDirectories } from './sync-directories.ts'

export interface RestoreNeeds {
  dataDir: string
  /** @throws a sentence for the operator, when a newer release has written the files of a data directory */
  requireOwnFormats: (dataDir: string) => Promise<void>
  /** @param done from 0 to 1 */
  progress(done: number, what: string): void
  signal: AbortSignal
}

/**
 * Everything that the installation made after the backup is lost, but others may still use its ids: links,
 * submissions, clicks. None of these ids is given out again, up to this number.
 */
const SKIPPED_IDS = 1_000_000
/** A segment of the spool has at least 60,000 hits. */
const SKIPPED_SEGMENTS = 100_000

/** @throws BackupProblem with a sentence for the operator; the data directory is as before then */
export async function restore(needs: RestoreNeeds, backup: string): Promise<Manifest> {
  const from = resolve(backup)
  const { dataDir } = needs
  const manifest = await readManifest(from)
  verifyRelease(from, manifest)
  verifyFiles(from, manifest)
  if (isInside(from, dataDir) || isInside(dataDir, from))
    throw new BackupProblem(`The backup ${from} and DATA_DIR (${dataDir}) must not be in each other.`)
  removeInterrupted(dataDir, manifest)
  verifyEmpty(dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = tryToLockDataDir(dataDir)
  if (!lock)
    throw new BackupProblem(`A server runs on ${dataDir}. A backup is restored into an empty DATA_DIR.`)
  try {
    await verifyRoom(dataDir, manifest)
    await copyFiles(needs, from, manifest)
    await needs.requireOwnFormats(join(from, DATA)).catch(failAsProblem)
    await prepareForNewIds(needs, manifest)
    await putInPlace(dataDir)
    return manifest
  } catch (error) {
    // Before the first file is in its place. Afterwards only the disk can fail, and a second restore starts again.
    if (!existsSync(toMark(dataDir))) rmSync(toRestoreDraft(dataDir), { recursive: true, force: true })
    throw error
  } finally {
    lock.release()
  }
}

function verifyRelease(backup: string, { rows, version }: Manifest) {
  if (rows.engine === 'postgres' || isKnownMigration(rows.newestMigration)) return
  throw new BackupProblem(
    `The backup ${backup} was made by Towpath ${version}, which is newer than this release (it has ` +
      `${rows.newestMigration}). Restore it with that release, or a later one.`,
  )
}

function failAsProblem(cause: Error): never {
  throw new BackupProblem(cause.message, { cause })
}

/** Finds missing files, files of another size and unknown files, before reading any. */
function verifyFiles(backup: string, { files }: Manifest) {
  const found = listFiles(backup)
  for (const path of found)
    if (lstatSync(path).isSymbolicLink())
      throw new BackupProblem(
        `${relative(backup, path)} in the backup ${backup} is a symbolic link. A backup has only files: put the file there, and try again.`,
      )
  for (const { path, bytes } of files) {
    const file = lstatSync(join(backup, path), { throwIfNoEntry: false })
    if (!file?.isFile()) throw new BackupProblem(`The backup ${backup} is damaged: ${path} is missing.`)
    if (file.size !== bytes) throw new BackupProblem(toDamage(backup, path))
  }
  const known = new Set([...files.map(({ path }) => path), MANIFEST, SUMS])
  for (const path of found) {
    if (!known.has(relative(backup, path)))
      throw new BackupProblem(
        `${relative(backup, path)} is not a file of the backup ${backup}. Move it away, and try again.`,
      )
  }
}

const toDamage = (backup: string, path: string) =>
  `The backup ${backup} is damaged: ${path} has changed since the backup. Use another backup.`

const listFiles = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? listFiles(path) : [path]
  })

const listTops = ({ files }: Manifest) =>
  new Set(
    files.map(({ path }) => path.split('/')).flatMap(([root, top]) => (root === DATA && top ? [top] : [])),
  )

/** Made when all files are right, and removed with the draft when all are in their places. */
const toMark = (dataDir: string) => join(toRestoreDraft(dataDir), 'complete')

/**
 * The directory was empty before that restore, and no server has started since, so files with a name of the backup
 * came from there.
 */
function removeInterrupted(dataDir: string, manifest: Manifest) {
  const draft = toRestoreDraft(dataDir)
  if (!existsSync(draft)) return
  if (existsSync(toMark(dataDir)))
    for (const name of listTops(manifest)) rmSync(join(dataDir, name), { recursive: true, force: true })
  rmSync(draft, { recursive: true, force: true })
}

/** A mounted disk has `lost+found`, and a look for a running server leaves a lock. */
const NOTHING = new Set(['lost+found', 'server.lock', 'server.lock-journal'])

function verifyEmpty(dataDir: string) {
  if (!existsSync(dataDir)) return
  const found = readdirSync(dataDir).filter((name) => !NOTHING.has(name))
  if (found.length === 0) return
  throw new BackupProblem(
    `${dataDir} is not empty (${found.slice(0, 3).join(', ')}). A backup is restored into an empty DATA_DIR: move ` +
      'the old one away, or set DATA_DIR to another directory.',
  )
}

async function verifyRoom(dataDir: string, { files }: Manifest) {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const shortage = await findShortage(dataDir, needed)
  if (shortage)
    throw new BackupProblem(
      `The backup needs ${shortage.needed} on the disk of ${dataDir}, and ${shortage.free} are free.`,
    )
}

async function copyFiles({ dataDir, progress, signal }: RestoreNeeds, backup: string, manifest: Manifest) {
  const draft = toRestoreDraft(dataDir)
  const all = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  const onBytes = (bytes: number) => {
    done += bytes
    progress(done / all, 'files')
  }
  for (const file of manifest.files) {
    const from = join(backup, file.path)
    const to = join(draft, file.path)
    if (file.path.startsWith(`${DATA}/`)) {
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      verifyDigest(backup, file, await copyFile(from, to, { signal, onBytes, refusesLinks: true }))
    } else verifyDigest(backup, file, await hashFile(from, signal))
  }
}

function verifyDigest(backup: string, { path, sha256 }: BackupFile, digest: { sha256: string }) {
  if (digest.sha256 !== sha256) throw new BackupProblem(toDamage(backup, path))
}

async function prepareForNewIds({ dataDir }: RestoreNeeds, { rows, files }: Manifest) {
  const data = join(toRestoreDraft(dataDir), DATA)
  if (rows.engine === 'sqlite') skipIds(toSqlitePath(data), SKIPPED_IDS)
  for (const { path } of files)
    if (path.endsWith('spool/node'))
      await skipSegments(join(toRestoreDraft(dataDir), dirname(path)), SKIPPED_SEGMENTS)
}

async function putInPlace(dataDir: string) {
  const draft = toRestoreDraft(dataDir)
  const data = join(draft, DATA)
  await syncDirectories(draft)
  mkdirSync(toMark(dataDir), { mode: 0o700 })
  await syncToDisk(draft)
  for (const name of readdirSync(data)) renameSync(join(data, name), join(dataDir, name))
  await syncToDisk(dataDir)
  rmSync(draft, { recursive: true })
  await syncToDisk(dataDir)
}
