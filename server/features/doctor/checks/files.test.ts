// The checks of the data directory: on real files.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findSmallDiskProblem, toSmallDiskCommand } from '../../../../tests/faults/small-disk.ts'
import { insertRows, workspaceRow } from '../../../../tests/support/test-rows.ts'
import { toBatchFileName } from '../../hits/batches/batch-file.ts'
import { createPatient, type DoctorPatient, summarize } from '../doctor.fixture.ts'
import { checkBackup } from './backup.ts'
import { checkClock } from './clock.ts'
import { checkDisk, judgeDisk } from './disk.ts'
import { checkPermissions } from './permissions.ts'
import { checkSpool } from './spool.ts'

const NOW = Date.UTC(2026, 5, 11, 12)

let patient: DoctorPatient
const pathOf = (...names: string[]) => join(patient.dataDir, ...names)
beforeEach(async () => {
  patient = await createPatient()
})
afterEach(() => patient.end())

describe('the disk', () => {
  const GIB = 1024 ** 3
  const roomy = { free: 50 * GIB, total: 100 * GIB, inodes: 1e6, freeInodes: 9e5, type: 0xef53 }

  test('is well with room', async () => {
    expect(summarize(await checkDisk(patient.needs()))).toMatch(/^ok: .* are free in DATA_DIR/)
  })

  test('is a problem below the mark, and a warning near it', () => {
    const judge = (free: number) => summarize(judgeDisk('DATA_DIR', { ...roomy, free }, GIB))
    expect(judge(4 * GIB)).toStartWith('problem: DATA_DIR: 4 GB of 100 GB are free, below the mark of 5 GB')
    expect(judge(8 * GIB)).toStartWith('warning: ')
    expect(judge(11 * GIB)).toBe('')
  })

  test('is a problem without inodes, and on a network', () => {
    expect(summarize(judgeDisk('DATA_DIR', { ...roomy, freeInodes: 40_000 }, 0))).toContain(
      '40000 more files',
    )
    expect(summarize(judgeDisk('DATA_DIR', { ...roomy, inodes: 0, freeInodes: 0 }, 0))).toBe('')
    expect(summarize(judgeDisk('DATA_DIR', { ...roomy, type: 0x6969 }, 0))).toContain(
      'network file system (NFS)',
    )
  })

  test.skipIf(findSmallDiskProblem() !== undefined)(
    'is a problem where a real one is nearly full',
    async () => {
      const code = `import { checkDisk } from ${JSON.stringify(join(import.meta.dir, 'disk.ts'))}
      console.log(JSON.stringify(await checkDisk({ settings: { dataDir: process.argv[1], diskReserveBytes: 0 } })))`
      const command = toSmallDiskCommand(patient.dataDir, 16 * 1024 * 1024)
      const run = Bun.spawnSync([...command, process.execPath, '-e', code, patient.dataDir])
      expect(run.stdout.toString()).toContain('"problem"')
      expect(run.stdout.toString()).toContain('of 16 MB are free')
    },
  )

  test('is a problem where DATA_DIR is absent', async () => {
    const found = await checkDisk(patient.needs({}, { dataDir: pathOf('absent') }))
    expect(summarize(found)).toMatch(/^problem: .* does not exist/)
  })
})

describe('permissions', () => {
  const check = async () => summarize(await checkPermissions(patient.needs()))
  beforeEach(() => {
    writeFileSync(pathOf('secret'), 'x', { mode: 0o600 })
    Bun.spawnSync(['chmod', '-R', 'go=', patient.dataDir])
  })

  test('are well when only one user reads', async () => {
    expect(await check()).toStartWith('ok: ')
  })

  test('are a problem when the directory or the secret is open to others', async () => {
    chmodSync(patient.dataDir, 0o755)
    expect(await check()).toContain('problem: DATA_DIR is open to other users (mode 755)')
    chmodSync(patient.dataDir, 0o700)
    chmodSync(pathOf('secret'), 0o640)
    expect(await check()).toContain('problem: Other users may read the file of the secret')
  })

  test('are a warning when a file could be read by everybody', async () => {
    chmodSync(pathOf('towpath.db'), 0o644)
    expect(await check()).toContain('warning: 1 file (towpath.db)')
  })

  test.skipIf(process.getuid?.() !== 0)('are a problem when root has left files of its own', async () => {
    chownSync(patient.dataDir, 12_345, 12_345)
    expect(await check()).toMatch(/problem: \d+ files .* of another user than its own \(12345\)/)
  })
})

describe('the clock', () => {
  const check = async (now = NOW) => summarize(await checkClock(patient.needs({ now: () => now })))
  const HOUR = 3_600_000
  beforeEach(() => {
    for (const name of readdirSync(patient.dataDir)) utimesSync(pathOf(name), new Date(NOW), new Date(NOW))
  })

  test('is well as it is', async () => {
    expect(await check()).toBe('ok: The clock agrees with the stored times.')
  })

  test('is a problem when it went back behind files or rows', async () => {
    expect(await check(NOW - HOUR)).toMatch(/problem: The newest file .* ahead of the clock/)
    await insertRows(patient.db, { workspaces: [workspaceRow({ id: 1, created_at: 0 })] })
    const future = new Date(NOW + 2 * 24 * HOUR)
    utimesSync(pathOf('towpath.db'), future, future)
    expect(await check()).toContain('the clock went back')
  })

  test('is a problem when a salt shows that it has been ahead', async () => {
    await patient.db.write((connection) =>
      connection.insertInto('visitor_salts').values({ day: '2126-01-01', salt: 'x' }).execute(),
    )
    expect(await check()).toContain('There is a salt for visitors of 2126-01-01')
  })

  test('is a problem when it is older than this release', async () => {
    expect(await check(Date.UTC(2001, 0, 1))).toContain('before this release was made')
  })
})

describe('the spool', () => {
  const NODE = '0123456789abcdef'
  const HIT = {
    id: 1,
    at: 1,
    workspaceId: 1,
    linkId: 1,
    outcome: 'redirect',
    class: 'human',
    trigger: 'link',
    visitor: '1',
  }
  const nameOf = (number: number) => toBatchFileName(number, { seq: 1, offset: number * 64 })
  function writeBatch(number: number, content = `${JSON.stringify(HIT)}\n`) {
    mkdirSync(pathOf('batches', NODE), { recursive: true })
    writeFileSync(pathOf('batches', NODE, nameOf(number)), content)
  }
  const check = async (mark: number, changes = {}) => {
    const marks = { [NODE]: mark }
    const inspectHits = async () => ({ version: 'DuckDB', marks, marksAfter: marks })
    return summarize(await checkSpool(patient.needs({ inspectHits, now: () => NOW, ...changes })))
  }

  test('is well when batches are whole, and reads them to their end', async () => {
    for (const number of [4, 5, 6]) writeBatch(number)
    expect(await check(4)).toBe(
      'ok: The spool is read in time, with 3 batch files; 3 of 3 were read to their end.',
    )
  })

  test('has a problem when a batch is missing above the mark, and none below it', async () => {
    for (const number of [1, 4, 6]) writeBatch(number)
    expect(await check(3)).toContain(`problem: Batch 5 of node ${NODE} is missing`)
    expect(await check(6)).toStartWith('ok')
  })

  test('has a problem when a batch is damaged', async () => {
    writeBatch(1)
    writeBatch(2, `${JSON.stringify(HIT)}\n{"id":`)
    expect(await check(2)).toContain(`problem: Batch 2 of node ${NODE} is damaged (2 lines)`)
  })

  test('has a problem while clicks wait in the memory of the server or in the spool', async () => {
    writeBatch(1)
    const old = new Date(NOW - 120_000)
    utimesSync(pathOf('batches', NODE, nameOf(1)), old, old)
    mkdirSync(pathOf('spool'))
    writeFileSync(pathOf('spool', 'node'), `${NODE}\n`)
    const write = (...numbers: number[]) =>
      writeFileSync(pathOf('spool', 'live'), new Uint8Array(Int32Array.from(numbers).buffer))
    write(1, 64, 7, 0)
    expect(await check(1, { isServerRunning: true })).toContain('problem: The disk has no room for 7 clicks')
    write(1, 64 + 4096, 0, 0)
    expect(await check(1, { isServerRunning: true })).toContain('problem: 4 KB of clicks wait in the spool')
    write(1, 64, 0, 0)
    expect(await check(1, { isServerRunning: true })).toStartWith('ok')
  })

  test('has a warning for files that were set aside, and for directories without a server', async () => {
    writeFileSync(pathOf('hits.duckdb.corrupt-1790000000000'), 'x')
    mkdirSync(pathOf('worker-3', 'spool'), { recursive: true })
    const found = await check(0)
    expect(found).toContain('warning: 1 file could not be read, and were set aside (hits.duckdb.corrupt-')
    expect(found).toContain(`No server of this installation works on ${pathOf('worker-3')}`)
  })

  test('changes nothing: an unfinished batch of the server stays', async () => {
    writeBatch(1)
    writeFileSync(pathOf('batches', NODE, '0000000002.tmp'), 'x')
    await check(1)
    expect(statSync(pathOf('batches', NODE, '0000000002.tmp')).size).toBe(1)
  })
})

describe('the backup', () => {
  const check = async (dir?: string) =>
    summarize(
      await checkBackup(
        patient.needs({ now: () => NOW }, { backups: dir === undefined ? undefined : { dir, hours: 24 } }),
      ),
    )
  const writeManifest = (name: string, takenAt: string) => {
    mkdirSync(pathOf('backups', name), { recursive: true })
    writeFileSync(pathOf('backups', name, 'manifest.json'), JSON.stringify({ takenAt }))
  }

  test('is a warning without BACKUP_DIR, and a problem when none is finished', async () => {
    expect(await check()).toStartWith('warning: BACKUP_DIR is not set')
    expect(await check(pathOf('backups'))).toStartWith('problem: There is no finished backup')
    mkdirSync(pathOf('backups', '2026-11-22T21-00-00Z'), { recursive: true })
    expect(await check(pathOf('backups'))).toStartWith('problem: There is no finished backup')
  })

  test('is well when it is young, and a problem when it is old', async () => {
    const hoursAgo = new Date(NOW - 3 * 3_600_000).toISOString()
    writeManifest('2020-01-01T00-00-00Z', '2020-01-01T00:00:00.000Z')
    expect(await check(pathOf('backups'))).toMatch(/^problem: The last backup is \d+ days old/)
    writeManifest(`${hoursAgo.slice(0, 19).replaceAll(':', '-')}Z`, hoursAgo)
    expect(await check(pathOf('backups'))).toBe('ok: The last backup is 3 hours old.')
    rmSync(pathOf('backups'), { recursive: true })
  })
})
