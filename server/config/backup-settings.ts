// Settings of the scheduled backups: directory, interval, and number to keep.

import { resolve } from 'node:path'
import { isInside } from '../features/backup/places.ts'
import type { BackupSettings } from '../features/backup/schedule.ts'
import { type GetSetting, type ProblemReporter, readCount } from './setting.ts'

const HOURS = { standard: 24, most: 24 * 366 }
const KEEP = { standard: 7, most: 10_000 }

/** @returns undefined when backups are turned off */
export function readBackups(
  get: GetSetting,
  dataDir: string,
  wrong: ProblemReporter,
): BackupSettings | undefined {
  const dir = get('BACKUP_DIR')
  const hours = readCount('BACKUP_HOURS', get, HOURS, wrong)
  const keep = readCount('BACKUP_KEEP', get, KEEP, wrong)
  if (dir === undefined) {
    for (const name of ['BACKUP_HOURS', 'BACKUP_KEEP'] as const)
      if (get(name) !== undefined)
        wrong(name, 'has no meaning without BACKUP_DIR', 'Set both, or leave both out.')
    return undefined
  }
  if (isInside(dir, dataDir))
    wrong('BACKUP_DIR', `"${dir}" is in DATA_DIR`, 'Name a directory outside it, best on another disk.')
  return { dir: resolve(dir), hours, keep }
}
