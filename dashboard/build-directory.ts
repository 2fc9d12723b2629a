// The directory of the bundled dashboard. Its name is a hash of the sources, so that changed sources get a new
// directory.

import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const INSTALLED = join(ROOT, 'node_modules/.cache/towpath-dashboard')

/** Set by `npm run dev` (dashboard/dev.ts): readable code, React's warnings, and a page that reloads itself. */
export const isDevelopment = process.env.NODE_ENV === 'development'

export async function getBuildDirectory(): Promise<string> {
  // The npm package has the finished bundle in place of the sources.
  if (!existsSync(join(import.meta.dir, 'main.tsx'))) return join(import.meta.dir, 'built')
  const hash = createHash('sha256')
  const sources = [...new Bun.Glob('**/*.{ts,tsx,css,woff2,json}').scanSync({ cwd: import.meta.dir })].sort()
  for (const path of [
    ...sources.map((name) => join(import.meta.dir, name)),
    join(ROOT, 'package-lock.json'),
    join(ROOT, 'CHANGELOG.md'),
    // The only file of the snippet that the dashboard imports.
    join(ROOT, 'snippet/proof-of-work.ts'),
  ]) {
    hash.update(`${path.slice(ROOT.length)}\0`).update(await Bun.file(path).bytes())
  }
  const name = hash.digest('hex').slice(0, 16) + (isDevelopment ? '-dev' : '')
  const installed = join(INSTALLED, name)
  // Every user shares the output of `npm run build`, even one who may not write there.
  return isBuilt(installed) || canWrite(INSTALLED) ? installed : join(getOwnCache(), name)
}

/** built.json is the last file of a bundle. */
export const isBuilt = (directory: string) => existsSync(join(directory, 'built.json'))

/** The languages besides English of a bundle. */
export const readLanguages = (directory: string): string[] =>
  JSON.parse(readFileSync(join(directory, 'built.json'), 'utf8')).languages

function canWrite(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true })
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** @throws when another user owns the directory: its files would be shown to everyone who signs in */
function getOwnCache(): string {
  const own = process.getuid?.()
  const directory = join(tmpdir(), `towpath-dashboard-${own ?? ''}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const entry = lstatSync(directory)
  if (entry.isDirectory() && (own === undefined || entry.uid === own)) return directory
  throw new Error(
    `${directory} belongs to somebody else. Run "npm run build" as the user who installed Towpath.`,
  )
}
