// Settings of the stores: the database, the data directory and its secret, and how long hits are kept.

import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { toRestoreDraft } from '../features/backup/places.ts'
import { isPlaceholder } from '../lib/crypto/placeholder.ts'
import { randomToken } from '../lib/crypto/random.ts'
import { parseUrl } from '../lib/web-url.ts'
import { ConfigError, type GetSetting, type ProblemReporter } from './setting.ts'
import type { SettingName } from './setting-groups.ts'

const SECRET_MIN = 32

export function readDatabaseUrl(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined || /^postgres(ql)?:$/.test(parseUrl(text)?.protocol ?? '')) return text
  wrong('DATABASE_URL', 'is not a PostgreSQL address', 'Use postgres://user:password@host:5432/database.')
  return undefined
}

/** 100 years. A higher number is a mistake. */
const RETENTION_DAYS_MAX = 36_500

export function readRetention(text: string | undefined, wrong: ProblemReporter): number | undefined {
  if (text === undefined) return undefined
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= RETENTION_DAYS_MAX) return days
  wrong(
    'HIT_RETENTION_DAYS',
    `"${text}" is not a number of days`,
    'Use a whole number from 1, such as 365, or leave it out to keep hits forever.',
  )
  return undefined
}

const MIB = 1024 * 1024
const DISK_RESERVE_MIB = 1024
/** A petabyte. A higher number is a mistake. */
const DISK_RESERVE_MIB_MAX = 2 ** 30

export function readDiskReserve(text: string | undefined, wrong: ProblemReporter): number {
  if (text === undefined) return DISK_RESERVE_MIB * MIB
  const mebibytes = Number(text)
  if (/^\d+$/.test(text) && mebibytes <= DISK_RESERVE_MIB_MAX) return mebibytes * MIB
  wrong(
    'DISK_RESERVE_MB',
    `"${text}" is not a number of megabytes`,
    `Use a whole number such as 256, 0 to record everything until the disk is full, or leave it out for ${DISK_RESERVE_MIB}.`,
  )
  return DISK_RESERVE_MIB * MIB
}

/** Rows that strangers make the server store for one workspace in a day. */
const PAGE_VIEWS_PER_DAY = 5_000_000
const SUBMISSIONS_PER_DAY = 1_000_000
const ROWS_PER_DAY_MAX = 10 ** 12

export const readStorageLimits = (get: GetSetting, wrong: ProblemReporter) => ({
  pageViewsPerDay: readRowsPerDay('PAGE_VIEWS_PER_DAY', get, PAGE_VIEWS_PER_DAY, wrong),
  submissionsPerDay: readRowsPerDay('SUBMISSIONS_PER_DAY', get, SUBMISSIONS_PER_DAY, wrong),
  uploadBytesPerWorkspace: readUploadBytes(get('UPLOAD_BYTES_PER_WORKSPACE'), wrong),
})

const GIB = 1024 ** 3
const UPLOAD_GIB_PER_WORKSPACE = 10
const UNITS: Record<string, number> = { '': 1, kib: 1024, mib: MIB, gib: GIB, tib: 1024 * GIB }

/** Bytes, or a number with a unit such as `10 GiB`. */
function readUploadBytes(text: string | undefined, wrong: ProblemReporter): number {
  const otherwise = UPLOAD_GIB_PER_WORKSPACE * GIB
  if (text === undefined) return otherwise
  const [, digits, unit = ''] = /^(\d{1,15})\s*(|[kmgt]ib)$/i.exec(text) ?? []
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN)
  if (Number.isSafeInteger(bytes)) return bytes
  wrong(
    'UPLOAD_BYTES_PER_WORKSPACE',
    `"${text}" is not a number of bytes`,
    `Use a number of bytes or one such as 500 MiB, or leave it out for ${UPLOAD_GIB_PER_WORKSPACE} GiB.`,
  )
  return otherwise
}

function readRowsPerDay(
  name: SettingName,
  get: GetSetting,
  otherwise: number,
  wrong: ProblemReporter,
): number {
  const text = get(name)
  if (text === undefined) return otherwise
  const rows = Number(text)
  if (/^\d+$/.test(text) && rows >= 1 && rows <= ROWS_PER_DAY_MAX) return rows
  const example = otherwise.toLocaleString('en-US')
  wrong(
    name,
    `"${text}" is not a number of rows`,
    `Use a whole number from 1, or leave it out for ${example}.`,
  )
  return otherwise
}

export function checkSecret(text: string | undefined, wrong: ProblemReporter) {
  if (text === undefined) return
  const fix =
    'Use 32 or more random characters (openssl rand -hex 32), or leave it out: one is made and kept.'
  if (text.length < SECRET_MIN) wrong('TOWPATH_SECRET', `has only ${text.length} characters`, fix)
  else if (isPlaceholder(text)) wrong('TOWPATH_SECRET', 'is a placeholder', fix)
}

/** The data directory, before a start creates anything. */
export interface DataDirectory {
  path: string
  /** Whether the environment names it. */
  isNamed: boolean
  /** Whether PostgreSQL has the rows. */
  isShared: boolean
  /** Whether a server has stored data there. With PostgreSQL this can be only the spool. */
  isInUse: boolean
}

export function findDataDirectory(get: GetSetting): DataDirectory {
  const named = get('DATA_DIR')
  const path = resolve(named ?? './data')
  const isShared = get('DATABASE_URL') !== undefined
  const names = isShared ? ['secret', 'spool', 'worker-1'] : ['towpath.db']
  const isInUse = names.some((name) => existsSync(join(path, name)))
  return { path, isNamed: named !== undefined, isShared, isInUse }
}

export function makeDataDir(dataDir: string, wrong: ProblemReporter) {
  if (existsSync(toRestoreDraft(dataDir)))
    wrong('DATA_DIR', `${dataDir} has half of a backup: its restore did not end`, 'Run the restore again.')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const probe = join(dataDir, '.writable')
    writeFileSync(probe, '')
    rmSync(probe, { force: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    wrong('DATA_DIR', `cannot be written (${reason})`, 'Name a directory that this user may write to.')
    return
  }
  const foreign = findForeignFile(dataDir)
  if (foreign)
    wrong(
      'DATA_DIR',
      `${foreign.path} belongs to another user (uid ${foreign.uid}), and this user (uid ${process.geteuid?.()}) may not use it`,
      `Start Towpath as that user, or give the directory to this user: chown -R ${process.geteuid?.()} ${dataDir}.`,
    )
}

/** The files of a server in its directory. An operator may keep other files beside them. */
const OWN_NAMES = [
  'towpath.db',
  'towpath.db-wal',
  'towpath.db-shm',
  'server.lock',
  'server.running',
  'ship.lock',
  'hits.duckdb',
  'hits.duckdb.wal',
  'spool',
  'batches',
  'snippet',
  'tmp',
]

/**
 * Finds files in the data directory that another user's server has written, such as root's. Without this check, the
 * failure would be "unable to open database file", or would come hours later.
 * @returns the first server file that this user cannot access
 */
function findForeignFile(dataDir: string): { path: string; uid: number } | undefined {
  const toPaths = (name: string) => {
    const path = join(dataDir, name)
    return [path, ...(name === 'spool' || name === 'batches' ? listChildren(path) : [])]
  }
  const secret = join(dataDir, 'secret')
  const path = isUsable(secret, constants.R_OK)
    ? OWN_NAMES.flatMap(toPaths).find((each) => !isUsable(each, constants.R_OK | constants.W_OK))
    : secret
  return path === undefined ? undefined : { path, uid: statSync(path).uid }
}

/** True for a file that does not exist: a server that runs may have removed it just now. */
function isUsable(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function listChildren(dir: string): string[] {
  try {
    return readdirSync(dir).map((name) => join(dir, name))
  } catch {
    return []
  }
}

const toSecretPath = (dataDir: string) => join(dataDir, 'secret')

/** @returns undefined where no start has made it */
export function findSecret(dataDir: string): string | undefined {
  const path = toSecretPath(dataDir)
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
}

/** The secret of this installation. The first start creates it. */
export function readOrCreateSecret(dataDir: string): string {
  const path = toSecretPath(dataDir)
  if (!existsSync(path)) {
    // The complete file is linked into place: a command line may read the secret at the same moment, or create it, and
    // then its secret counts.
    const draft = `${path}.${randomToken(6)}`
    writeFileSync(draft, `${randomToken(32)}\n`, { mode: 0o600, flag: 'wx' })
    try {
      linkSync(draft, path)
    } catch {
      // Another process has created the file in the meantime, or the file system has no hard links.
      if (!existsSync(path)) renameSync(draft, path)
    } finally {
      rmSync(draft, { force: true })
    }
  }
  const secret = readFileSync(path, 'utf8').trim()
  if (secret.length >= SECRET_MIN) return secret
  throw new ConfigError([
    `TOWPATH_SECRET: the file ${path} is damaged. Restore it from a backup, or delete it to make a new secret.`,
  ])
}
