// The scheduled backups: runs `towpath backup` as a separate process when one is due. Its only state is the directory
// of the backups, so a restart changes nothing.

import { existsSync, rmSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metric } from '../../http/health-and-metrics.ts'
import { log } from '../../lib/log.ts'
import { tryToLockForBackup } from '../../storage/lock.ts'
import { MANIFEST, toHalfPath, toStagePath } from './places.ts'

export interface BackupSettings {
  dir: string
  hours: number
  /** The number of complete backups to keep. */
  keep: number
}

export interface BackupScheduleNeeds {
  /** Absent without scheduled backups. The remains of a killed backup are removed all the same. */
  settings?: BackupSettings
  dataDir: string
  now: () => number
  /** The environment of the command, which reads its settings there. By default that of this process. */
  environment?: Record<string, string | undefined>
}

export interface BackupSchedule {
  /** Makes a backup when one is due. Call it every minute. @throws when the backup failed */
  run(): Promise<void>
  metrics(): Metric[]
  /** Ends a backup that is being made. Nothing of it stays. */
  stop(): void
}

const HOUR_MS = 60 * 60 * 1000
/** A backup that failed is tried again after this, or after its period when that is shorter. */
const RETRY_MS = HOUR_MS
/** The allowed delay of a backup, as a part of its period. */
export const OVERDUE_AFTER = 1.5

const COMMAND = join(import.meta.dir, '../../cli/main.ts')

interface ScheduleState extends BackupScheduleNeeds {
  running?: { kill(signal: NodeJS.Signals): void }
  /** When the last complete backup was begun; null when there is none, undefined before the first look. */
  last?: number | null
  failedAt: number
}

export function createBackupSchedule(needs: BackupScheduleNeeds): BackupSchedule {
  const state: ScheduleState = { ...needs, failedAt: Number.NEGATIVE_INFINITY }
  return {
    run: () => run(state),
    metrics: () => readMetrics(state),
    stop: () => state.running?.kill('SIGTERM'),
  }
}

async function run(state: ScheduleState) {
  const { settings, dataDir, now } = state
  removeLeftStage(dataDir)
  if (!settings) return
  state.last = await findLastBackup(settings.dir, now())
  if (!isDue(state, settings)) return
  try {
    await makeNext(state, settings)
  } catch (error) {
    state.failedAt = now()
    throw error
  }
  state.last = await findLastBackup(settings.dir, now())
  await deleteOld(settings)
}

function isDue({ last, failedAt, now }: ScheduleState, { hours }: BackupSettings): boolean {
  const periodMs = hours * HOUR_MS
  return (
    now() - (last ?? Number.NEGATIVE_INFINITY) >= periodMs && now() - failedAt >= Math.min(RETRY_MS, periodMs)
  )
}

async function makeNext(state: ScheduleState, { dir }: BackupSettings) {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const since = (await listBackups(dir)).at(-1)
  await makeBackup(state, join(dir, toBackupName(state.now())), since && join(dir, since.name))
}

async function makeBackup(state: ScheduleState, dir: string, since: string | undefined) {
  const command = [process.execPath, COMMAND, 'backup', dir, ...(since ? ['--since', since] : [])]
  const child = Bun.spawn(command, {
    env: state.environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  state.running = child
  const startedAt = performance.now()
  const [report, problem, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  state.running = undefined
  if (code !== 0) throw new Error(`The backup ${dir} failed: ${problem.trim().split('\n').at(-1)}`)
  log.info('backup_made', { dir, since, seconds: Math.round((performance.now() - startedAt) / 1000), report })
}

/** UTC, and no `:`, which some file systems and programs do not take. */
const toBackupName = (at: number) => `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z`

const HALF = toHalfPath('')
const BACKUP_NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z$/

interface ScheduledBackup {
  name: string
  at: number
}

/** The complete ones, oldest first. Directories with other names are not ours. */
async function listBackups(dir: string): Promise<ScheduledBackup[]> {
  const backups: ScheduledBackup[] = []
  for (const name of (await listNames(dir)).sort()) {
    if (!BACKUP_NAME.test(name) || !(await listNames(join(dir, name))).includes(MANIFEST)) continue
    backups.push({ name, at: Date.parse(name.replace(BACKUP_NAME, '$1T$2:$3:$4Z')) })
  }
  return backups
}

async function listNames(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return []
  }
}

/**
 * The start of the last complete backup; null without one. Ignores backups of the future, so that a clock that was
 * set back does not stop backups.
 */
export const findLastBackup = async (dir: string, now: number): Promise<number | null> =>
  (await listBackups(dir)).findLast(({ at }) => at <= now)?.at ?? null

/** A half-deleted backup must not look complete. Also deletes the remains of a killed backup. */
async function deleteOld({ dir, keep }: BackupSettings) {
  for (const { name } of (await listBackups(dir)).slice(0, -keep)) {
    await rename(join(dir, name), toHalfPath(join(dir, name)))
    log.info('backup_deleted', { dir: join(dir, name) })
  }
  const halves = (await listNames(dir)).filter(
    (name) => name.endsWith(HALF) && BACKUP_NAME.test(name.slice(0, -HALF.length)),
  )
  for (const name of halves) await rm(join(dir, name), { recursive: true })
}

/** The links of a killed backup would keep hits that are erased meanwhile. */
function removeLeftStage(dataDir: string) {
  if (!existsSync(toStagePath(dataDir))) return
  const lock = tryToLockForBackup(dataDir)
  if (!lock) return
  rmSync(toStagePath(dataDir), { recursive: true, force: true })
  lock.release()
}

function readMetrics({ settings, now, last }: ScheduleState): Metric[] {
  // Unknown before the first look, some seconds after the start.
  if (!settings || last === undefined) return []
  const isOverdue = last === null || now() - last > settings.hours * HOUR_MS * OVERDUE_AFTER
  return [
    {
      name: 'towpath_backup_last_success_timestamp_seconds',
      kind: 'gauge',
      help: 'Start time of the last complete backup in BACKUP_DIR; 0 without one',
      value: (last ?? 0) / 1000,
    },
    {
      name: 'towpath_backup_overdue',
      kind: 'gauge',
      help: '1 when the last complete backup is older than one and a half times BACKUP_HOURS, or missing',
      value: Number(isOverdue),
    },
  ]
}
