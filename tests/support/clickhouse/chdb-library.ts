// Finds or installs ClickHouse as a library (npm `@chdb/lib-…`, Apache-2.0, 546 MB). It is no dependency of the project:
// the first test that needs it installs it into the user's cache, where all checkouts find it.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const VERSION = '26.7.3-stable.1'
const INSTALL_WITHIN_MS = 600_000

/**
 * Installs the library where it is missing; that takes about 15 seconds.
 * @returns the path of the library's package
 * @throws a sentence when there is none for this system, or npm cannot install it
 */
export function ensureChdbLibrary(): string {
  const name = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'towpath-tests')
  const home = join(cache, `chdb-${VERSION}`)
  const library = join(home, 'node_modules', name)
  if (existsSync(library)) return library
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'installing-'))
  try {
    process.stderr.write('ClickHouse is missing: installing it for the tests\n')
    install(`${name}@${VERSION}`, unfinished)
    publish(unfinished, home)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return library
}

function install(spec: string, dir: string) {
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--no-package-lock']
  const run = Bun.spawnSync(['npm', 'install', '--prefix', dir, ...options, spec], {
    cwd: dir,
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: INSTALL_WITHIN_MS,
  })
  if (run.success) return
  throw new Error(`These tests need ClickHouse, and npm could not install ${spec}:\n${run.stderr}`)
}

/** Another process of the test run may have installed it in the meantime: its directory stays then. */
function publish(unfinished: string, home: string) {
  try {
    renameSync(unfinished, home)
  } catch (error) {
    if (!existsSync(home)) throw error
  }
}
