// A data directory that the server may not write, or that a server of another user has written.

import { afterAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `nobody`: root may read and write everything, so another process of this user reads the settings. */
const NOBODY = 65_534
const root = mkdtempSync(join(tmpdir(), 'towpath-foreign-'))
chmodSync(root, 0o755)
afterAll(() => rmSync(root, { recursive: true, force: true }))

let made = 0
/** The files of a server, owned by `nobody`; `foreign` is root's. */
function makeDirectory(foreign?: string): string {
  const dir = join(root, String(made++))
  for (const each of ['', 'spool', 'batches', 'batches/0123456789abcdef', 'tmp'])
    mkdirSync(join(dir, each), { mode: 0o700 })
  const files = [
    'towpath.db',
    'towpath.db-wal',
    'secret',
    'hits.duckdb',
    'server.lock',
    'spool/node',
    'spool/0000000001.seg',
  ]
  for (const each of files) writeFileSync(join(dir, each), `${'x'.repeat(43)}\n`, { mode: 0o600 })
  for (const each of ['', ...(readdirSync(dir, { recursive: true }) as string[])])
    if (each !== foreign) chownSync(join(dir, each), NOBODY, NOBODY)
  return dir
}

/** @returns what the start says to `nobody` about each directory; '' when it accepts the directory */
function readRefusals(dataDirs: string[]): string[] {
  const script = `
    import { readConfig } from ${JSON.stringify(join(import.meta.dir, '../../server/config/config.ts'))}
    const refusals = process.argv.slice(1).map((DATA_DIR) => {
      try {
        readConfig({ DATA_DIR })
        return ''
      } catch (error) {
        return error.problems?.join() ?? String(error)
      }
    })
    console.log(JSON.stringify(refusals))`
  const user = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  const { stdout, stderr } = Bun.spawnSync([...user, process.execPath, '-e', script, ...dataDirs], {
    cwd: root,
  })
  expect(stderr.toString()).toBe('')
  return JSON.parse(stdout.toString())
}

const FOREIGN = [
  'towpath.db',
  'towpath.db-wal',
  'secret',
  'hits.duckdb',
  'server.lock',
  'spool',
  'spool/0000000001.seg',
  'batches/0123456789abcdef',
]

describe.skipIf(process.getuid?.() !== 0 || !Bun.which('setpriv'))('a data directory', () => {
  test('of this user is accepted, with a file of somebody else in it that is not ours', () => {
    const dir = makeDirectory()
    writeFileSync(join(dir, 'GeoLite2-City.mmdb'), 'x', { mode: 0o600 })
    expect(readRefusals([dir])).toEqual([''])
  })

  test('with a file of another user is refused with the file and what to do', () => {
    const dirs = FOREIGN.map(makeDirectory)
    expect(readRefusals(dirs)).toEqual(
      FOREIGN.map(
        (name, i) =>
          `DATA_DIR: ${join(dirs[i] as string, name)} belongs to another user (uid 0), and this user (uid ${NOBODY}) may not ` +
          `use it. Start Towpath as that user, or give the directory to this user: chown -R ${NOBODY} ${dirs[i]}.`,
      ),
    )
  })

  test('that cannot be written is refused, and stays as it is', () => {
    const dir = makeDirectory()
    const before = readdirSync(dir)
    chownSync(dir, 0, 0)
    chmodSync(dir, 0o755)
    const missing = join(dir, 'data')
    for (const refusal of readRefusals([dir, missing]))
      expect(refusal).toMatch(
        /^DATA_DIR: cannot be written \(EACCES.+Name a directory that this user may write to\.$/,
      )
    expect(readdirSync(dir)).toEqual(before)
    expect(existsSync(missing)).toBe(false)
  })
})
