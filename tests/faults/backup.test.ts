// Faults of backups: a backup is whole or not there, damage is found, and nothing that exists is overwritten.

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
import { backUp } from '../../server/features/backup/back-up.ts'
import { hashFile } from '../../server/features/backup/copy-file.ts'
import { type BackupFile, writeSums } from '../../server/features/backup/manifest.ts'
import { restore } from '../../server/features/backup/restore.ts'
import { requireOwnFormats } from '../../server/start/open-rows.ts'
import { openShell, towpath } from '../support/processes/command-shell.ts'
import { createRandom, createRandomMs } from '../support/random.ts'
import { atScale, full, quick } from '../support/suite.ts'
import { startServer, type TestServer } from '../support/world.ts'
import { runCommand, startCommand } from './move-command.ts'
import { findSmallDiskProblem, toSmallDiskCommand } from './small-disk.ts'

const randomMs = createRandomMs('kills of a backup')

setDefaultTimeout(120_000)

const KILLS = atScale({ full: 3, soak: 60 })
const random = createRandom('bits of a backup')

let home: string
let server: TestServer
/** A backup that no test changes. */
let whole: string

const inHome = (name: string) => join(home, name)
const listFiles = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
const toNeeds = () => ({
  version: '1.0.0',
  secret: 's'.repeat(40),
  now: () => server.now(),
  progress() {},
  signal: new AbortController().signal,
})
const makeBackup = (dir: string, since?: string) =>
  backUp({ ...toNeeds(), dataDir: server.dataDir }, dir, since)

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'towpath-backup-'))
  server = await startServer('sqlite')
  const { slug } = await (await server.createWorkspace()).createLink({ slug: 'a' })
  for (let i = 0; i < 20; i++) await server.click(`${slug}?utm_term=t${i}`)
  await server.waitUntilShipped()
  whole = inHome('whole')
  await makeBackup(whole)
})
afterAll(async () => {
  await server?.close()
  rmSync(home, { recursive: true, force: true })
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
  const problem = await restore({ ...toNeeds(), dataDir, requireOwnFormats }, backup).then(
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
  const at = Math.floor(random() * bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
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
  test('is whole for sha256sum, and has the secret and the numbers of its rows', () => {
    const check = Bun.spawnSync(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: whole })
    expect([check.exitCode, check.stdout.toString()]).toEqual([0, ''])
    expect(readFileSync(join(whole, 'data/secret'), 'utf8')).toBe(`${toNeeds().secret}\n`)
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
        expect.stringContaining(isIndex ? copy : `${name} has changed since the backup`),
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

  quick(
    'is made by the command line for its owner only, and restored into an empty DATA_DIR only',
    async () => {
      const shell = openShell({ DATA_DIR: server.dataDir })
      const made = await shell.run('backup', inHome('by-command'))
      expect([made.code, made.out]).toEqual([0, expect.stringContaining('links: 1')])
      for (const path of listFiles(inHome('by-command'))) expect(statSync(path).mode & 0o777).toBe(0o600)
      for (const dir of ['.', 'data', 'data/spool'])
        expect(statSync(join(inHome('by-command'), dir)).mode & 0o777).toBe(0o700)
      const again = await shell.run('backup', inHome('by-command'))
      expect([again.code, again.err]).toEqual([1, expect.stringContaining('exists already')])
      const inside = await shell.run('backup', join(server.dataDir, 'b'))
      expect([inside.code, inside.err]).toEqual([1, expect.stringContaining('is in DATA_DIR')])
      const before = listFiles(server.dataDir).length
      const beside = await shell.run('restore', whole)
      expect([beside.code, beside.err]).toEqual([1, expect.stringContaining('is not empty')])
      expect(listFiles(server.dataDir).length).toBe(before)
      await shell.end()
      const dataDir = inHome('foreign')
      mkdirSync(dataDir)
      writeFileSync(join(dataDir, 'notes.txt'), 'mine')
      const elsewhere = openShell({ DATA_DIR: dataDir })
      const refused = await elsewhere.run('restore', whole)
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('notes.txt')])
      expect(readdirSync(dataDir)).toEqual(['notes.txt'])
      rmSync(join(dataDir, 'notes.txt'))
      const restored = await elsewhere.run('restore', inHome('by-command'))
      expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('Restored the installation')])
      await elsewhere.end()
      expectRestored(dataDir)
    },
  )

  full('is not begun where the disk has no room for it', async () => {
    if (findSmallDiskProblem()) return
    const small = inHome('small')
    mkdirSync(small)
    const program = [...toSmallDiskCommand(small, 4 * 1024 ** 2), process.execPath, 'server/cli/main.ts']
    const { code, err } = await towpath({ DATA_DIR: server.dataDir }, ['backup', join(small, 'b')], program)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/needs \d+ MB on the disk of .* and \d MB are free/),
    ])
  })

  test('shares the files that are the same with the one before, and no damaged one', async () => {
    const previous = copyOfWhole('previous')
    const batches = listFiles(join(previous, 'data/batches')).map((path) => path.slice(previous.length))
    const shared = inHome('shared')
    await makeBackup(shared, previous)
    for (const batch of batches) expect(statSync(shared + batch).ino).toBe(statSync(previous + batch).ino)
    const [damaged = ''] = batches
    flipBit(previous + damaged)
    const unshared = inHome('unshared')
    expect((await makeBackup(unshared, previous)).damaged).toEqual([previous + damaged])
    expect(statSync(unshared + damaged).ino).not.toBe(statSync(previous + damaged).ino)
    expect(await findProblem(unshared)).toBeUndefined()
    // No file is shared with the running server.
    const live = new Set(listFiles(server.dataDir).map((path) => statSync(path).ino))
    for (const path of listFiles(join(unshared, 'data'))) expect(live.has(statSync(path).ino)).toBe(false)
  })

  full(
    `that is killed at ${KILLS} random moments leaves nothing that looks like one, and nothing behind`,
    async () => {
      const run = (dir: string) => runCommand(server.dataDir, ['backup', dir])
      const startedAt = performance.now()
      expect((await run(inHome('timed'))).code).toBe(0)
      const usualMs = performance.now() - startedAt
      const target = inHome('killed')
      for (let kill = 0; kill < KILLS; kill++) {
        const command = startCommand(server.dataDir, ['backup', target])
        await Promise.race([command.exited, Bun.sleep(randomMs(0, usualMs))])
        await command.kill()
        if (!existsSync(target)) continue
        // It had ended.
        expect(await findProblem(target)).toBeUndefined()
        rmSync(target, { recursive: true })
      }
      expect((await run(target)).code).toBe(0)
      expect(await findProblem(target)).toBeUndefined()
      expect(existsSync(`${target}.half`)).toBe(false)
      expect(existsSync(join(server.dataDir, 'backup'))).toBe(false)
    },
  )

  quick(
    'that was stopped in the middle of its restore starts no server, and is restored by the same command',
    async () => {
      expect(await findProblem(whole)).toBeUndefined()
      const dataDir = inHome('restored')
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
      await restore({ ...toNeeds(), dataDir, requireOwnFormats }, whole)
      expectRestored(dataDir)
      expect(readdirSync(dataDir)).not.toContain('restoring')
    },
  )
})

function expectRestored(dataDir: string) {
  const rows = new Database(join(dataDir, 'towpath.db'), { readonly: true })
  expect(rows.query('select slug from links').all()).toEqual([{ slug: 'a' }])
  rows.close()
}
