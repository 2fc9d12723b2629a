// Settings of the scheduled backups: where they go, how often they are made, and how many stay.

import { resolve } from 'node:path'
import { isInside } from '../features/backup/places.ts'
import type { BackupSettings } from '../features/backup/schedule.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

const HOURS = { standard: 24, most: 24 * 366 }
const KEEP = { standard: 7, most: 10_000 }

/** @returns undefined where the operator wants none */
export function readBackups(
  get: GetSetting,
  dataDir: string,
  wrong: ProblemReporter,
): BackupSettings | undefined {
  const dir = get('BACKUP_DIR')
  const hours = readNumber('BACKUP_HOURS', get, HOURS, wrong)
  const keep = readNumber('BACKUP_KEEP', get, KEEP, wrong)
  if (dir === undefined) {
    for (const name of ['BACKUP_HOURS', 'BACKUP_KEEP'])
      if (get(name) !== undefined)
        wrong(name, 'has no meaning without BACKUP_DIR', 'Set both, or leave both out.')
    return undefined
  }
  if (isInside(dir, dataDir))
    wrong('BACKUP_DIR', `"${dir}" is in DATA_DIR`, 'Name a directory outside it, best on another disk.')
  return { dir: resolve(dir), hours, keep }
}

function readNumber(
  name: string,
  get: GetSetting,
  { standard, most }: { standard: number; most: number },
  wrong: ProblemReporter,
): number {
  const text = get(name)
  if (text === undefined) return standard
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number
  wrong(name, `"${text}" is not a whole number from 1 to ${most}`, `Leave it out for ${standard}.`)
  return standard
}
