// Check: there is a scheduled backup, and it is young.

import { findLastBackup, OVERDUE_AFTER } from '../../backup/schedule.ts'
import { type CheckResult, ok, problem, warning } from '../finding.ts'
import { formatAge } from '../format.ts'
import type { DoctorNeeds } from '../needs.ts'

const HOUR_MS = 60 * 60 * 1000

export async function checkBackup({ settings, now }: DoctorNeeds): Promise<CheckResult[]> {
  const { backups } = settings
  if (!backups)
    return [
      warning(
        'BACKUP_DIR is not set: there are no backups, unless you make them elsewhere.',
        'Set BACKUP_DIR to a directory on another disk, or run npx towpath backup <dir> by a timer.',
      ),
    ]
  const last = await findLastBackup(backups.dir, now())
  const fix = 'See the log of the server for the backup job, and whether it may write to BACKUP_DIR.'
  if (last === null) return [problem('There is no finished backup in BACKUP_DIR.', fix)]
  const age = formatAge(now() - last)
  if (now() - last > backups.hours * OVERDUE_AFTER * HOUR_MS)
    return [problem(`The last backup is ${age} old.`, fix)]
  return [ok(`The last backup is ${age} old.`)]
}
