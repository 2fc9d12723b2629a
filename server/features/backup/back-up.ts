// Makes a backup beside a running server: the rows as of one moment first, then the hits, so that each hit which was
// answered before that moment is in it once (docs/adr/0036-backup.md). It is complete when it has its name.

import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { toSqlitePath } from '../../storage/database/open-reader.ts'
import {
  listSqliteFileKeys,
  readSqliteFacts,
  type SqliteSnapshot,
  startSqliteSnapshot,
} from '../../storage/database/sqlite-snapshot.ts'
import { findShortage } from '../../storage/disk-space.ts'
import { tryToLockForBackup } from '../../storage/lock.ts'
import { syncToDisk, writeDurably } from '../../storage/write-durably.ts'
import { type CopyNeeds, copyFile, hashFile, hashText } from './copy-file.ts'
import { listBesides, writeInstructions } from './instructions.ts'
import {
  type BackupFile,
  BackupProblem,
  FORMAT,
  type Manifest,
  readManifest,
  toManifestText,
  writeSums,
} from './manifest.ts'
import { DATA, INSTRUCTIONS, isInside, MANIFEST, SUMS, toHalfPath, toStagePath } from './places.ts'
import { type StagedFile, type StagedHits, stageHits, tryToLink } from './stage-hits.ts'
import { listStagedUploads, stageUploads } from './stage-uploads.ts'
import { syncDirectories } from './sync-directories.ts'

export interface BackupNeeds {
  dataDir: string
  databaseUrl?: string
  clickHouseUrls?: string[]
  /** Where uploads are, when they are not in `dataDir`. */
  uploadBucket?: { bucket: string }
  secret: string
  /** The release that runs. */
  version: string
  now: () => number
  /** @param done from 0 to 1 */
  progress(done: number, what: string): void
  signal: AbortSignal
}

export interface BackupResult {
  manifest: Manifest
  /** Hits in the server's memory, which no backup can have. */
  waiting: number
  /** Files of the previous backup that have changed since. They were copied again. */
  damaged: string[]
}

interface Previous {
  dir: string
  files: Map<string, BackupFile>
}

interface BackupState extends BackupNeeds {
  dir: string
  draft: string
  stage: string
  previous?: Previous
  takenAt: number
  files: BackupFile[]
  damaged: string[]
  doneBytes: number
  allBytes: number
}

/**
 * @param dir does not exist, or is empty
 * @param since an earlier backup, which shares unchanged files
 * @throws BackupProblem with a sentence for the operator, after removing the unfinished backup
 */
export async function backUp(needs: BackupNeeds, dir: string, since?: string): Promise<BackupResult> {
  const target = resolve(dir)
  verifyTarget(needs.dataDir, target)
  const previous = since === undefined ? undefined : await readPrevious(resolve(since))
  const lock = tryToLockForBackup(needs.dataDir)
  if (!lock) throw new BackupProblem(`Another backup of ${needs.dataDir} runs. Wait for its end.`)
  const state: BackupState = {
    ...needs,
    dir: target,
    draft: toHalfPath(target),
    stage: toStagePath(needs.dataDir),
    previous,
    takenAt: 0,
    files: [],
    damaged: [],
    doneBytes: 0,
    allBytes: 0,
  }
  try {
    // Remains of a killed backup.
    removeUnfinished(state)
    mkdirSync(join(state.draft, DATA), { recursive: true, mode: 0o700 })
    mkdirSync(state.stage, { mode: 0o700 })
    return await run(state)
  } catch (error) {
    throw isFull(error)
      ? new BackupProblem(`The disk of ${target} is full. Make room, and try again.`)
      : error
  } finally {
    removeUnfinished(state)
    lock.release()
  }
}

function removeUnfinished({ draft, stage }: Pick<BackupState, 'draft' | 'stage'>) {
  for (const path of [draft, stage]) rmSync(path, { recursive: true, force: true })
}

const isFull = (error: unknown) =>
  error instanceof Error &&
  ((error as NodeJS.ErrnoException).code === 'ENOSPC' || /disk is full/.test(error.message))

function verifyTarget(dataDir: string, target: string) {
  if (isInside(target, dataDir))
    throw new BackupProblem(`${target} is in DATA_DIR (${dataDir}). Name a directory outside it.`)
  if (existsSync(target) && !(statSync(target).isDirectory() && readdirSync(target).length === 0))
    throw new BackupProblem(`${target} exists already. Name a directory that does not exist, or is empty.`)
}

async function readPrevious(dir: string): Promise<Previous> {
  const { files } = await readManifest(dir)
  return { dir, files: new Map(files.map((file) => [file.path, file])) }
}

async function run(state: BackupState): Promise<BackupResult> {
  await verifyRoom(state)
  const copyNeeds = toCopyNeeds(state)
  await stageUploads(state)
  const snapshot = startRows(state)
  let hits: StagedHits
  try {
    // The rows before the hits: a batch that the rows have counted is then among the batches.
    await waitUntilBegun(state, snapshot)
    await stageUploads(state)
    hits = await stageHits({ ...state, ...copyNeeds, draft: state.draft })
    await followRows(state, snapshot)
  } finally {
    snapshot?.stop()
    await snapshot?.done.catch(() => undefined)
  }
  state.files.push(...hits.copied)
  await addRows(state)
  const uploads = await listStagedUploads(state, snapshot && listSqliteFileKeys(toRowsCopy(state)))
  for (const file of [...hits.staged, ...uploads]) state.files.push(await addFile(state, file))
  await addText(state, `${DATA}/secret`, `${state.secret}\n`)
  const manifest = toManifest(state, hits)
  await complete(state, manifest)
  return { manifest, waiting: hits.waiting, damaged: state.damaged }
}

const toCopyNeeds = (state: BackupState): CopyNeeds => ({
  signal: state.signal,
  onBytes(bytes) {
    state.doneBytes += bytes
    state.progress(state.doneBytes / state.allBytes, 'hits')
  },
})

const toRowsPath = ({ dataDir }: Pick<BackupState, 'dataDir'>) => toSqlitePath(dataDir)
const toRowsCopy = ({ draft }: BackupState) => toSqlitePath(join(draft, DATA))

function startRows(state: BackupState): SqliteSnapshot | undefined {
  state.takenAt = state.now()
  if (state.databaseUrl !== undefined) return undefined
  const snapshot = startSqliteSnapshot(toRowsPath(state), toRowsCopy(state))
  snapshot.done.catch(() => undefined)
  return snapshot
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The copy grows only once its moment is fixed. */
async function waitUntilBegun(state: BackupState, snapshot: SqliteSnapshot | undefined) {
  if (!snapshot) return
  const ended = snapshot.done.then(() => true)
  while (sizeOf(toRowsCopy(state)) === 0) {
    state.signal.throwIfAborted()
    if (await Promise.race([ended, Bun.sleep(5)])) return
  }
}

/**
 * Shows how far the copy of the rows is, and syncs it all along: gigabytes that wait for the disk at the end would hold
 * up every commit of the server.
 */
async function followRows(state: BackupState, snapshot: SqliteSnapshot | undefined) {
  if (!snapshot) return
  const ended = snapshot.done.then(() => true)
  const before = state.doneBytes
  const file = await open(toRowsCopy(state), 'r')
  try {
    while (!(await Promise.race([ended, Bun.sleep(100)]))) {
      state.signal.throwIfAborted()
      await file.datasync()
      state.doneBytes = before + sizeOf(toRowsCopy(state))
      state.progress(state.doneBytes / state.allBytes, 'rows')
    }
  } finally {
    await file.close()
  }
}

async function addRows(state: BackupState) {
  if (state.databaseUrl !== undefined) return
  state.files.push({ path: `${DATA}/towpath.db`, ...(await hashFile(toRowsCopy(state), state.signal)) })
}

/** Copies a file of the stage, or shares it with the previous backup when both have the same bytes now. */
async function addFile(state: BackupState, { path: name, staged, bytes }: StagedFile): Promise<BackupFile> {
  const path = `${DATA}/${name}`
  const target = join(state.draft, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const known = state.previous?.files.get(path)
  if (state.previous && known?.bytes === bytes) {
    const digest = await hashFile(staged, state.signal)
    if (digest.sha256 === known.sha256 && (await tryToShare(state, state.previous, path))) {
      toCopyNeeds(state).onBytes(bytes)
      return { path, ...digest, linked: true }
    }
  }
  return { path, ...(await copyFile(staged, target, toCopyNeeds(state))) }
}

/** A damaged file must not pass from backup to backup, so the shared file is read as well. */
async function tryToShare(state: BackupState, { dir, files }: Previous, path: string): Promise<boolean> {
  const from = join(dir, path)
  const digest = await hashFile(from, state.signal).catch(() => undefined)
  if (digest?.sha256 === files.get(path)?.sha256) return tryToLink(from, join(state.draft, path))
  state.damaged.push(from)
  return false
}

async function addText(state: BackupState, path: string, text: string) {
  await writeDurably(join(state.draft, path), (file) => file.writeFile(text), 'wx')
  state.files.push({ path, ...hashText(text) })
}

function toManifest(state: BackupState, { nodes, staged }: StagedHits): Manifest {
  const { databaseUrl, clickHouseUrls, version, takenAt, now, previous, dir } = state
  return {
    format: FORMAT,
    version,
    takenAt: new Date(takenAt).toISOString(),
    finishedAt: new Date(now()).toISOString(),
    nodes,
    rows:
      databaseUrl === undefined
        ? { engine: 'sqlite', ...readSqliteFacts(toRowsCopy(state)) }
        : { engine: 'postgres' },
    hits: {
      engine: clickHouseUrls ? 'clickhouse' : 'duckdb',
      batches: staged.filter(({ path }) => /(^|\/)batches\//.test(path)).length,
    },
    ...(previous && { since: basename(previous.dir) }),
    besides: listBesides({ databaseUrl, clickHouseUrls }, dir),
    files: state.files,
  }
}

async function complete(state: BackupState, manifest: Manifest) {
  const { draft, dir } = state
  await addText(state, INSTRUCTIONS, writeInstructions(manifest, state, dir))
  const text = toManifestText(manifest)
  await addText(state, MANIFEST, text)
  const sums = writeSums(state.files)
  await writeDurably(join(draft, SUMS), (file) => file.writeFile(sums), 'wx')
  await syncDirectories(draft)
  state.signal.throwIfAborted()
  await rename(draft, dir)
  await syncToDisk(dirname(dir))
}

/** Asked before anything is written. */
async function verifyRoom(state: BackupState) {
  const { dataDir, previous, draft, dir } = state
  const rows =
    state.databaseUrl === undefined ? sizeOf(toRowsPath(state)) + sizeOf(`${toRowsPath(state)}-wal`) : 0
  const isShared = (path: string, bytes: number) => previous?.files.get(`${DATA}/${path}`)?.bytes === bytes
  let written = rows
  state.allBytes = rows
  for (const path of listHitFiles(dataDir)) {
    const bytes = sizeOf(join(dataDir, path))
    state.allBytes += bytes
    if (!isShared(path, bytes)) written += bytes
  }
  const shortage = await findShortage(draft, written + ROOM_BYTES)
  if (shortage)
    throw new BackupProblem(
      `The backup needs ${shortage.needed} on the disk of ${dir}, and ${shortage.free} are free. ` +
        'Make room, or name a directory on another disk.',
    )
}

/** Room for new data during the backup, and for the names of the files. */
const ROOM_BYTES = 32 * 1024 ** 2

/** Lists the files of hits that the backup may copy: for the room on the disk, and for the progress. */
function listHitFiles(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(^|\/)(spool|batches|incoming|snippet|uploads)\/|(^|\/)hits\.duckdb\.backup$/.test(path),
  )
}
