// What a backup promises besides its content: it is whole or not there, damage is found, and nothing that exists is
// overwritten.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashFile } from '../../server/features/backup/copy-file.ts'
import { type BackupFile, writeSums } from '../../server/features/backup/manifest.ts'
import { restore } from '../../server/features/backup/restore.ts'
import { requireOwnFormats } from '../../server/open-rows.ts'
import { tryToLockForBackup } from '../../server/storage/lock.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { towpath } from '../support/processes/command-shell.ts'
import { readMetric } from '../support/read-metrics.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks } from './click-counts.ts'
import { runCommand, startCommand } from './move-command.ts'
import { createInstallation, type Installation, randomMs, type ServerProcess } from './server-process.ts'
import { findSmallDiskProblem, toSmallDiskCommand } from './small-disk.ts'

setDefaultTimeout(120_000)

const KILLS = atScale({ full: 3, soak: 60 })
const HOUR_MS = 3_600_000
const smallDiskProblem = findSmallDiskProblem()

const closeLater = closeAfterAll()
let home: string
let installation: Installation
let server: ServerProcess
let key: string
/** A backup that no test changes. */
let whole: string

const inHome = (name: string) => join(home, name)
const backUp = (dir: string, ...more: string[]) => runCommand(installation.dataDir, ['backup', dir, ...more])
const listFiles = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'towpath-backup-'))
  closeLater(() => rmSync(home, { recursive: true, force: true }))
  installation = await createInstallation(1)
  closeLater(installation.end)
  key = installation.keys[0] as string
  server = await installation.start()
  await createLinkOverHttp('a', key, server)
  for (let i = 0; i < 20; i++) await server.click(`a?utm_term=t${i}`)
  await readCountedClicks(server, key, 'a')
  whole = inHome('whole')
  expect((await backUp(whole)).code).toBe(0)
})

/** A copy of the backup that a test may damage. */
function copyOfWhole(name: string): string {
  const copy = inHome(name)
  rmSync(copy, { recursive: true, force: true })
  cpSync(whole, copy, { recursive: true })
  return copy
}

/** @returns why nothing was restored; undefined when it was */
async function findProblem(backup: string): Promise<string | undefined> {
  const dataDir = inHome('restored')
  rmSync(dataDir, { recursive: true, force: true })
  const signal = new AbortController().signal
  const needs = { dataDir, requireOwnFormats, progress: () => {}, signal }
  const problem = await restore(needs, backup).then(
    () => undefined,
    (error: Error) => error.message,
  )
  // Nothing of a backup that was refused is there.
  if (problem !== undefined && existsSync(dataDir))
    expect(readdirSync(dataDir).filter((name) => !name.startsWith('server.lock'))).toEqual([])
  return problem
}

function flipBit(path: string) {
  const bytes = readFileSync(path)
  const at = Math.floor(Math.random() * bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
  writeFileSync(path, bytes)
}

/** A manifest with other facts, and sums that fit it. */
async function rewriteManifest(backup: string, change: Record<string, unknown>) {
  const path = join(backup, 'manifest.json')
  const manifest = { ...JSON.parse(readFileSync(path, 'utf8')), ...change }
  writeFileSync(path, JSON.stringify(manifest))
  const files = [...manifest.files, { path: 'manifest.json', ...(await hashFile(path)) }]
  writeFileSync(join(backup, 'SHA256SUMS'), writeSums(files))
}

describe('a backup', () => {
  test('is for its owner only, and sha256sum finds it whole', () => {
    for (const path of listFiles(whole)) expect(statSync(path).mode & 0o777).toBe(0o600)
    for (const dir of [whole, join(whole, 'data'), join(whole, 'data/spool')])
      expect(statSync(dir).mode & 0o777).toBe(0o700)
    const check = Bun.spawnSync(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: whole })
    expect([check.exitCode, check.stdout.toString()]).toEqual([0, ''])
    expect(readFileSync(join(whole, 'data/secret'))).toEqual(
      readFileSync(join(installation.dataDir, 'secret')),
    )
    const { rows, hits } = JSON.parse(readFileSync(join(whole, 'manifest.json'), 'utf8'))
    expect(rows).toMatchObject({ engine: 'sqlite', counts: { workspaces: 1, links: 1 } })
    expect(hits.batches).toBeGreaterThan(0)
  })

  test('is refused with the name of the file, whichever of its files has another bit, is missing or is new', async () => {
    for (const original of listFiles(whole)) {
      const name = original.slice(whole.length + 1)
      const copy = copyOfWhole('flipped')
      flipBit(join(copy, name))
      const isIndex = ['manifest.json', 'SHA256SUMS'].includes(name)
      expect([name, await findProblem(copy)]).toEqual([
        name,
        expect.stringContaining(isIndex ? copy : `${name} is not what was backed up`),
      ])
      rmSync(join(copy, name))
      expect(await findProblem(copy)).toContain(name)
    }
    const copy = copyOfWhole('extra')
    writeFileSync(join(copy, 'data/hits.duckdb'), '')
    expect(await findProblem(copy)).toContain('data/hits.duckdb is not a file of the backup')
  })

  test('of a newer format, of a newer database, or with a path that leads out of it is refused with a sentence', async () => {
    const manifest = JSON.parse(readFileSync(join(whole, 'manifest.json'), 'utf8'))
    const copy = copyOfWhole('newer')
    await rewriteManifest(copy, { format: 2 })
    expect(await findProblem(copy)).toMatch(
      /has format 2, and this release reads formats up to 1\. Restore it with/,
    )
    await rewriteManifest(copy, {
      format: 1,
      version: '9.0.0',
      rows: { ...manifest.rows, newestMigration: '9999-far' },
    })
    expect(await findProblem(copy)).toMatch(/made by Towpath 9\.0\.0, which is newer than this release/)
    const formats = join(copy, 'data/formats.json')
    const known = readFileSync(formats, 'utf8')
    writeFileSync(formats, JSON.stringify({ release: '9.0.0', formats: { spool: 99 } }))
    const files: BackupFile[] = manifest.files
    const digest = await hashFile(formats)
    await rewriteManifest(copy, {
      ...manifest,
      files: files.map((file) => (file.path === 'data/formats.json' ? { ...file, ...digest } : file)),
    })
    expect(await findProblem(copy)).toMatch(
      /made by Towpath 9\.0\.0 \(formats: spool 99\), and this version is older/,
    )
    writeFileSync(formats, known)
    const [file] = manifest.files
    for (const path of ['data/../../out', 'data/secret\0', 'data/a\u0007b']) {
      await rewriteManifest(copy, { ...manifest, files: [{ ...file, path }] })
      expect([path, await findProblem(copy)]).toEqual([path, expect.stringContaining('do not fit together')])
    }
  })

  test('with a symbolic link is refused, whatever it leads to', async () => {
    for (const path of ['data/secret', 'data', 'manifest.json', 'SHA256SUMS']) {
      const copy = copyOfWhole('linked')
      rmSync(join(copy, path), { recursive: true })
      symlinkSync(join(whole, path), join(copy, path))
      const isIndex = ['manifest.json', 'SHA256SUMS'].includes(path)
      const sentence = isIndex
        ? `its ${path} cannot be read`
        : `${path} in the backup ${copy} is a symbolic link`
      expect([path, await findProblem(copy)]).toEqual([path, expect.stringContaining(sentence)])
    }
  })

  test('goes into an empty DATA_DIR only, and not beside a server', async () => {
    const before = listFiles(installation.dataDir).length
    const { code, output } = await runCommand(installation.dataDir, ['restore', whole])
    expect([code, output]).toEqual([1, expect.stringContaining('is not empty')])
    expect(listFiles(installation.dataDir).length).toBe(before)
    const foreign = inHome('foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'notes.txt'), 'mine')
    const refused = await runCommand(foreign, ['restore', whole])
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('notes.txt')])
    expect(readdirSync(foreign)).toEqual(['notes.txt'])
  })

  test('overwrites nothing, and is not made inside DATA_DIR', async () => {
    const inside = await backUp(join(installation.dataDir, 'b'))
    expect([inside.code, inside.output]).toEqual([1, expect.stringContaining('is in DATA_DIR')])
    const again = await backUp(whole)
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('exists already')])
  })

  test.skipIf(smallDiskProblem !== undefined)('is not begun where the disk has no room for it', async () => {
    const small = inHome('small')
    mkdirSync(small)
    const program = [...toSmallDiskCommand(small, 4 * 1024 ** 2), process.execPath, 'server/cli/main.ts']
    const environment = { DATA_DIR: installation.dataDir }
    const { code, err } = await towpath(environment, ['backup', join(small, 'b')], program)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/needs \d+ MB on the disk of .* and \d MB are free/),
    ])
  })

  test('shares the files that are the same with the one before, and no damaged one', async () => {
    const previous = copyOfWhole('previous')
    const batches = listFiles(join(previous, 'data/batches')).map((path) => path.slice(previous.length))
    const shared = inHome('shared')
    expect((await backUp(shared, '--since', previous)).output).toMatch(/\d+ shared with the previous backup/)
    for (const batch of batches) expect(statSync(shared + batch).ino).toBe(statSync(previous + batch).ino)
    const [damaged = ''] = batches
    flipBit(previous + damaged)
    const unshared = inHome('unshared')
    expect((await backUp(unshared, '--since', previous)).output).toContain(`${previous + damaged} is damaged`)
    expect(statSync(unshared + damaged).ino).not.toBe(statSync(previous + damaged).ino)
    expect(await findProblem(unshared)).toBeUndefined()
    // No file is shared with the running server.
    const live = new Set(listFiles(installation.dataDir).map((path) => statSync(path).ino))
    for (const path of listFiles(join(unshared, 'data'))) expect(live.has(statSync(path).ino)).toBe(false)
  })

  test(`that is killed at ${KILLS} random moments leaves nothing that looks like one, and nothing behind`, async () => {
    const startedAt = performance.now()
    expect((await backUp(inHome('timed'))).code).toBe(0)
    const usualMs = performance.now() - startedAt
    const target = inHome('killed')
    for (let kill = 0; kill < KILLS; kill++) {
      const command = startCommand(installation.dataDir, ['backup', target])
      await Promise.race([command.exited, Bun.sleep(randomMs(0, usualMs))])
      await command.kill()
      if (!existsSync(target)) continue
      // It had ended.
      expect(await findProblem(target)).toBeUndefined()
      rmSync(target, { recursive: true })
    }
    expect((await backUp(target)).code).toBe(0)
    expect(await findProblem(target)).toBeUndefined()
    expect(existsSync(`${target}.half`)).toBe(false)
    expect(existsSync(join(installation.dataDir, 'backup'))).toBe(false)
  })

  test('that was stopped in the middle of its restore starts no server, and is restored by the same command', async () => {
    const dataDir = inHome('interrupted')
    expect((await runCommand(dataDir, ['restore', whole])).code).toBe(0)
    // As a kill between two renames leaves it.
    mkdirSync(join(dataDir, 'restoring/complete'), { recursive: true })
    mkdirSync(join(dataDir, 'restoring/data'))
    renameSync(join(dataDir, 'towpath.db'), join(dataDir, 'restoring/data/towpath.db'))
    const start = Bun.spawnSync([process.execPath, 'server/main.ts'], {
      cwd: join(import.meta.dir, '../..'),
      env: { PATH: process.env.PATH, DATA_DIR: dataDir },
      timeout: 60_000,
    })
    expect([start.exitCode, start.stderr.toString()]).toEqual([
      1,
      expect.stringContaining('Run the restore again'),
    ])
    expect((await runCommand(dataDir, ['restore', whole])).code).toBe(0)
    const rows = new Database(join(dataDir, 'towpath.db'), { readonly: true })
    expect(rows.query('select slug from links').all()).toEqual([{ slug: 'a' }])
    rows.close()
    expect(readdirSync(dataDir)).not.toContain('restoring')
  })
})

describe('scheduled backups', () => {
  let scheduled: Installation
  let dir: string
  beforeAll(async () => {
    dir = inHome('scheduled')
    scheduled = await createInstallation(1)
  })
  afterAll(() => scheduled?.end())

  const list = () => (existsSync(dir) ? readdirSync(dir).sort() : [])
  const toName = (at: number) => `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z`
  const environment = () => ({ BACKUP_DIR: dir, BACKUP_HOURS: '2', BACKUP_KEEP: '2' })

  test('are made when one is due, survive restarts, share files, and only the newest stay', async () => {
    const first = await scheduled.start({ environment: environment() })
    await until('the first backup', () => list().some((name) => name.endsWith('Z')))
    await until('its metric', async () => (await readMetric(first.origin, 'towpath_backup_overdue')) === 0)
    const at = await readMetric(first.origin, 'towpath_backup_last_success_timestamp_seconds')
    expect(list()).toEqual([toName(at * 1000)])
    expect(await first.stop()).toBe(0)
    // Three hours pass, and there is one more of before, and the half of another one.
    const [made = ''] = list()
    const [older, oldest] = [toName(Date.now() - 3 * HOUR_MS), toName(Date.now() - 9 * HOUR_MS)]
    cpSync(join(dir, made), join(dir, oldest), { recursive: true })
    renameSync(join(dir, made), join(dir, older))
    mkdirSync(join(dir, `${toName(Date.now() - 5 * HOUR_MS)}.half`))
    mkdirSync(join(dir, 'not-ours'))
    const second = await scheduled.start({ environment: environment() })
    await until(
      'the second backup',
      () => !list().includes(oldest) && !list().some((name) => name.endsWith('.half')),
    )
    expect(list()).toEqual([older, expect.stringMatching(/Z$/), 'not-ours'])
    const newest = list()[1] as string
    expect(JSON.parse(readFileSync(join(dir, newest, 'manifest.json'), 'utf8')).since).toBe(older)
    expect(await second.stop()).toBe(0)
  })

  test('are overdue when the last one is older than one and a half periods, because the next one fails', async () => {
    const newest = list().findLast((name) => name.endsWith('Z')) as string
    renameSync(join(dir, newest), join(dir, toName(Date.now() - 3.5 * HOUR_MS)))
    for (const name of list().slice(0, 1)) rmSync(join(dir, name), { recursive: true })
    const lock = tryToLockForBackup(scheduled.dataDir)
    const late = await scheduled.start({ environment: environment() })
    await until('the failure', () => late.readOutput().includes('Another backup of'))
    expect(await readMetric(late.origin, 'towpath_backup_overdue')).toBe(1)
    lock?.release()
    expect(await late.stop()).toBe(0)
  })
})
