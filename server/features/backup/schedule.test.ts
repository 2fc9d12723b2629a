// Scheduled backups on a clock of the test: due times, retention, failures and metrics.

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeMigratedFile } from '../../../tests/support/migrated-database.ts'
import { quick } from '../../../tests/support/suite.ts'
import { tryToLockForBackup } from '../../storage/lock.ts'
import { createBackupSchedule } from './schedule.ts'

setDefaultTimeout(60_000)

const HOUR_MS = 3_600_000
const NOW = Date.UTC(2026, 4, 10, 12)

let home: string
let dataDir: string
let dir: string
let at = NOW
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'towpath-schedule-'))
  dataDir = join(home, 'data')
  dir = join(home, 'backups')
  mkdirSync(join(dataDir, 'spool'), { recursive: true })
  await writeMigratedFile(dataDir)
})
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

const open = () =>
  createBackupSchedule({
    settings: { dir, hours: 2, keep: 2 },
    dataDir,
    now: () => at,
    environment: { ...process.env, DATA_DIR: dataDir },
  })
const readMetrics = (schedule: ReturnType<typeof open>) => schedule.metrics().map(({ value }) => value)
const list = () => readdirSync(dir).sort()

quick('backups are made when one is due, share files, and only the newest stay', async () => {
  const first = open()
  expect(first.metrics()).toEqual([])
  await first.run()
  expect(list()).toEqual(['2026-05-10T12-00-00Z'])
  expect(readMetrics(first)).toEqual([NOW / 1000, 0])
  // Less than two hours later, also after a restart, none is due.
  at = NOW + 2 * HOUR_MS - 1
  await open().run()
  expect(list()).toHaveLength(1)
  // There is one more of before, the half of another one, and a directory of somebody else.
  cpSync(join(dir, '2026-05-10T12-00-00Z'), join(dir, '2026-05-10T03-00-00Z'), { recursive: true })
  mkdirSync(join(dir, '2026-05-10T07-00-00Z.half'))
  mkdirSync(join(dir, 'not-ours'))
  mkdirSync(join(dataDir, 'backup'))
  at = NOW + 2 * HOUR_MS
  await open().run()
  expect(list()).toEqual(['2026-05-10T12-00-00Z', '2026-05-10T14-00-00Z', 'not-ours'])
  const manifest = JSON.parse(readFileSync(join(dir, '2026-05-10T14-00-00Z/manifest.json'), 'utf8'))
  expect(manifest.since).toBe('2026-05-10T12-00-00Z')
  expect(existsSync(join(dataDir, 'backup'))).toBe(false)
})

quick(
  'a backup that fails is tried again after an hour, and is overdue after one and a half periods',
  async () => {
    const schedule = open()
    const lock = tryToLockForBackup(dataDir)
    at = NOW + 4 * HOUR_MS
    await expect(schedule.run()).rejects.toThrow('Another backup of')
    expect(readMetrics(schedule)).toEqual([NOW / 1000 + 7200, 0])
    lock?.release()
    at = NOW + 5 * HOUR_MS - 1
    await schedule.run()
    expect(list().filter((name) => name.endsWith('Z'))).toHaveLength(2)
    at = NOW + 5 * HOUR_MS
    expect(readMetrics(schedule)).toEqual([NOW / 1000 + 7200, 0])
    at++
    expect(readMetrics(schedule)).toEqual([NOW / 1000 + 7200, 1])
    await schedule.run()
    expect(list()).toEqual(['2026-05-10T14-00-00Z', '2026-05-10T17-00-00Z', 'not-ours'])
  },
)

quick('a clock that was set back does not end the backups', async () => {
  // The last one is of the future now.
  at = NOW + 4.5 * HOUR_MS
  renameSync(join(dir, '2026-05-10T14-00-00Z'), join(dir, '2026-05-10T14-20-00Z'))
  const schedule = open()
  await schedule.run()
  expect(list()).toContain('2026-05-10T16-30-00Z')
  expect(readMetrics(schedule)).toEqual([NOW / 1000 + 4.5 * 3600, 0])
})
