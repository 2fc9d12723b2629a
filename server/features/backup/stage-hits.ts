// Freezes the hits as of one moment, while the server goes on. Immutable files get a second name, which takes
// milliseconds and keeps their bytes when the server deletes them; segments of the spool, which change, are copied.
// A hit moves from the spool to a batch, and from there into the engine's backup. Each place deletes it only when the
// next one has it. The places are read in this order, so a hit that left one place is found in a later one.

import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { toFormatsPath } from '../../storage/data-formats.ts'
import { isUnreadableName } from '../../storage/quarantine.ts'
import { toIncomingPath } from '../hits/batches/hit-import.ts'
import { readNodeId } from '../hits/spool/claim-directory.ts'
import { HEADER_BYTES } from '../hits/spool/record-format.ts'
import { parseSegmentName } from '../hits/spool/segment.ts'
import { readWaitingHits } from '../hits/spool/write-position.ts'
import { toEngineBackupPath } from '../hits/worker/open-engine.ts'
import { type CopyNeeds, copyFile } from './copy-file.ts'
import type { BackupFile } from './manifest.ts'
import { DATA } from './places.ts'

/** Directories of files that are written once, next to those of the hits. */
const KEPT_DIRECTORIES = ['snippet']

export interface StagedFile {
  /** Below DATA_DIR. */
  path: string
  /** A second name for the file's bytes. */
  staged: string
  bytes: number
  /** Identifies a file that has two names. */
  inode: number
}

export interface StagedHits {
  nodes: string[]
  /** The copies that are in the backup already. */
  copied: BackupFile[]
  staged: StagedFile[]
  /** Hits in the server's memory, because its disk has no room for them. */
  waiting: number
}

export interface StageNeeds extends CopyNeeds {
  dataDir: string
  /** A directory of the same disk as `dataDir`. */
  stage: string
  /** The backup that is being made. */
  draft: string
}

const NODE_DIRECTORY = /^worker-\d+$/

/** Stages every node that has a directory in `dataDir`: with WORKERS there are several. */
export async function stageHits(needs: StageNeeds): Promise<StagedHits> {
  const all: StagedHits = { nodes: [], copied: [], staged: [], waiting: 0 }
  const workers = readdirSync(needs.dataDir).filter((name) => NODE_DIRECTORY.test(name))
  for (const place of ['', ...workers]) await stageNode(needs, place, all)
  return all
}

async function stageNode(needs: StageNeeds, place: string, all: StagedHits) {
  const spool = join(needs.dataDir, place, 'spool')
  if (existsSync(spool)) {
    all.nodes.push((await readNodeId(spool)) ?? '')
    all.waiting += readWaitingHits(spool)
    all.copied.push(...(await copySpool(needs, place)))
  }
  all.staged.push(...stageImmutableFiles(needs, place))
  if (existsSync(spool)) all.copied.push(...(await copyLastHeader(needs, place)))
}

/** Copies the whole segments. The rest of a segment that is being written is zeros. */
async function copySpool(needs: StageNeeds, place: string): Promise<BackupFile[]> {
  const spool = join(needs.dataDir, place, 'spool')
  const names = readdirSync(spool)
    .filter((name) => name === 'node' || parseSegmentName(name) !== null)
    .sort()
  const copied: BackupFile[] = []
  for (const name of names) {
    const path = toBackupPath(place, 'spool', name)
    mkdirSync(dirname(join(needs.draft, path)), { recursive: true, mode: 0o700 })
    const copy = copyFile(join(spool, name), join(needs.draft, path), { ...needs, isSparse: true })
    const digest = await copy.catch(ignoreMissing)
    // A segment that has gone in the meantime has become a batch.
    if (digest) copied.push({ path, ...digest })
  }
  return copied
}

/**
 * A batch may end in a segment that is newer than those that were copied. A spool without that segment would look like
 * an older one, whose hits have to be read again. The segment's hits are newer than the moment: its header is enough.
 */
async function copyLastHeader(needs: StageNeeds, place: string): Promise<BackupFile[]> {
  const spool = join(needs.dataDir, place, 'spool')
  const name = readdirSync(spool)
    .filter((each) => parseSegmentName(each) !== null)
    .sort()
    .at(-1)
  if (name === undefined) return []
  const path = toBackupPath(place, 'spool', name)
  const header = join(needs.stage, place, `header-${name}`)
  if (existsSync(join(needs.draft, path))) return []
  mkdirSync(dirname(header), { recursive: true, mode: 0o700 })
  writeFileSync(header, readFileSync(join(spool, name)).subarray(0, HEADER_BYTES), { mode: 0o600 })
  return [{ path, ...(await copyFile(header, join(needs.draft, path), needs)) }]
}

/**
 * Backs up the engine first: batches are deleted once a newer backup holds them, so the batches that were there after
 * it are exactly those that it lacks. A newer backup in the meantime makes it stage everything again.
 */
function stageImmutableFiles(needs: StageNeeds, place: string): StagedFile[] {
  const dir = join(needs.dataDir, place)
  const engineBackup = toEngineBackupPath(dir)
  for (;;) {
    const before = findInode(engineBackup)
    const engine = stageFile(needs, engineBackup)
    // A file that waits here becomes a batch by a rename: in this order it is found at least once.
    const incoming = stageTree(needs, toIncomingPath(dir))
    const batches = stageTree(needs, join(dir, 'batches'))
    if (findInode(engineBackup) === before && (before === undefined) === (engine === undefined)) {
      const known = new Set(batches.map(({ inode }) => inode))
      const pending = incoming.filter(({ inode }) => !known.has(inode))
      const kept = KEPT_DIRECTORIES.flatMap((name) => stageTree(needs, join(dir, name)))
      const single = [engine, stageFile(needs, toFormatsPath(dir))].filter((file) => file !== undefined)
      return [...single, ...pending, ...batches, ...kept]
    }
    rmSync(join(needs.stage, place), { recursive: true, force: true })
  }
}

const findInode = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino

function stageTree(needs: StageNeeds, directory: string): StagedFile[] {
  return listEntries(directory)
    .filter(({ name }) => !name.endsWith('.tmp') && !isUnreadableName(name))
    .flatMap((entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? stageTree(needs, path) : (stageFile(needs, path) ?? [])
    })
}

function listEntries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    return ignoreMissing(error) ?? []
  }
}

/** Where a file system has no links, the file is copied. @returns undefined when the file has gone */
function stageFile({ dataDir, stage }: StageNeeds, from: string): StagedFile | undefined {
  const path = from.slice(dataDir.length + 1)
  const staged = join(stage, path)
  const source = statSync(from, { throwIfNoEntry: false })
  if (!source) return undefined
  mkdirSync(dirname(staged), { recursive: true, mode: 0o700 })
  try {
    const isLinked = tryToLink(from, staged)
    if (!isLinked) copyFileSync(from, staged, constants.COPYFILE_FICLONE)
    const { size, ino } = statSync(staged)
    return { path, staged, bytes: size, inode: isLinked ? ino : source.ino }
  } catch (error) {
    return ignoreMissing(error)
  }
}

/** @returns false where these two places cannot share a file */
export function tryToLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    return false
  }
}

const toBackupPath = (...names: string[]) => [DATA, ...names].filter((name) => name !== '').join('/')

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
