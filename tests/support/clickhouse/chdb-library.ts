// Finds or installs ClickHouse as a library (npm `@chdb/lib-…`, Apache-2.0, 546 MB). It is no dependency of the project:
// the first test that needs it installs it into the user's cache.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePackages, toCachePath } from '../packages/cached-packages.ts'

const VERSION = '26.7.3-stable.1'
const CACHED_AS = `chdb-${VERSION}`

export const hasChdbLibrary = () => existsSync(toCachePath(CACHED_AS))

/**
 * Installs the library where it is missing; that takes about 15 seconds.
 * @returns the path of the library's package
 * @throws a sentence when there is none for this system, or npm cannot install it
 */
export function ensureChdbLibrary(): string {
  const name = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  return join(ensurePackages(CACHED_AS, [`${name}@${VERSION}`]), 'node_modules', name)
}
