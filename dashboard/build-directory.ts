// The directory of the bundled dashboard. Its name is a hash of the sources, so that changed sources get a new
// directory.

import { createHash } from 'node:crypto'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')

/** Set by `npm run dev` (dashboard/dev.ts): readable code, React's warnings, and a page that reloads itself. */
export const isDevelopment = process.env.NODE_ENV === 'development'

export async function getBuildDirectory(): Promise<string> {
  const hash = createHash('sha256')
  const sources = [...new Bun.Glob('**/*.{ts,tsx,css}').scanSync({ cwd: import.meta.dir })].sort()
  for (const path of [
    ...sources.map((name) => join(import.meta.dir, name)),
    join(ROOT, 'package-lock.json'),
    // The dashboard imports this one file of the snippet.
    join(ROOT, 'snippet/proof-of-work.ts'),
  ]) {
    hash.update(`${path.slice(ROOT.length)}\0`).update(await Bun.file(path).bytes())
  }
  const name = hash.digest('hex').slice(0, 16)
  return join(getCacheDirectory(), isDevelopment ? `${name}-dev` : name)
}

function getCacheDirectory(): string {
  const cache = join(ROOT, 'node_modules', '.cache', 'towpath-dashboard')
  try {
    mkdirSync(cache, { recursive: true })
    accessSync(cache, constants.W_OK)
    return cache
  } catch {
    // The program was installed by another user, so that its directory is read-only.
    return join(tmpdir(), `towpath-dashboard-${process.getuid?.() ?? ''}`)
  }
}
