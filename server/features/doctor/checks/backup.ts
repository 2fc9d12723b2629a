// Check: there is a backup, and it is young. A backup is a directory of BACKUP_DIR with a manifest.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckResult, ok, problem, warning } from '../finding.ts'
import { formatAge } from '../format-age.ts'
import type { DoctorNeeds } from '../needs.ts'

const HOUR_MS = 60 * 60 * 1000
/** As the metric `towpath_backup_overdue`: a backup may be late by half of its period. */
const LATE_FACTOR = 1.5
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/
/** The newest directories may be unfinished. */
const LOOKED_AT = 5

export async function checkBackup({ settings, now }: DoctorNeeds): Promise<CheckResult[]> {
  const { backups } = settings
  if (!backups)
    return [
      warning(
        'BACKUP_DIR is not set: nothing makes backups, unless you do it elsewhere.',
        'Set BACKUP_DIR to a directory on another disk, or run towpath backup <dir> by a timer.',
      ),
    ]
  const last = await findLastBackup(backups.dir)
  const fix = 'See the log of the server for the backup job, and whether it may write to BACKUP_DIR.'
  if (last === undefined) return [problem('There is no finished backup in BACKUP_DIR.', fix)]
  const age = formatAge(now() - last)
  if (now() - last > backups.hours * LATE_FACTOR * HOUR_MS)
    return [problem(`The last backup is ${age} old.`, fix)]
  return [ok(`The last backup is ${age} old.`)]
}

/** @returns milliseconds since the epoch; undefined where no backup is finished */
async function findLastBackup(dir: string): Promise<number | undefined> {
  const names = await readdir(dir).catch(() => [])
  const newest = names
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
  for (const name of newest.slice(0, LOOKED_AT)) {
    const at = await readBackupTime(join(dir, name, 'manifest.json'))
    if (at !== undefined) return at
  }
  return undefined
}

async function readBackupTime(path: string): Promise<number | undefined> {
  try {
    const { takenAt } = JSON.parse(await readFile(path, 'utf8')) as { takenAt?: unknown }
    const time = typeof takenAt === 'string' ? Date.parse(takenAt) : Number.NaN
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}
