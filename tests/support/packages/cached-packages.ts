// Installs npm packages that are no dependencies of the project, for the tests that need them: once, into the user's cache,
// where all checkouts find them.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const INSTALL_WITHIN_MS = 600_000

/**
 * @param name of the folder in the cache: it must change when the packages do
 * @param specs such as `svelte@5.57.3`
 * @returns the folder with `node_modules`
 * @throws a sentence when npm cannot install them
 */
export function ensurePackages(name: string, specs: string[]): string {
  const home = toCachePath(name)
  if (existsSync(home)) return home
  const cache = dirname(home)
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'installing-'))
  try {
    process.stderr.write(`${specs.join(' and ')} is missing: installing it for the tests\n`)
    install(specs, unfinished)
    publish(unfinished, home)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return home
}

/** @returns where packages of this name are, or would be */
export const toCachePath = (name: string) =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'towpath-tests', name)

function install(specs: string[], dir: string) {
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--no-package-lock']
  const run = Bun.spawnSync(['npm', 'install', '--prefix', dir, ...options, ...specs], {
    cwd: dir,
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: INSTALL_WITHIN_MS,
  })
  if (run.success) return
  throw new Error(`These tests need ${specs.join(' and ')}, and npm could not install them:\n${run.stderr}`)
}

/** Another process of the test run may have installed them in the meantime: its directory stays then. */
function publish(unfinished: string, home: string) {
  try {
    renameSync(unfinished, home)
  } catch (error) {
    if (!existsSync(home)) throw error
  }
}
