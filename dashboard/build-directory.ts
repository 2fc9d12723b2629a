// Where the bundled dashboard lies: a directory named after what it was made from, so that a change makes another.

import { createHash } from 'node:crypto'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')

/** `npm run dev` sets it: readable code, React's warnings, and a page that reloads itself (dashboard/dev.ts). */
export const isDevelopment = process.env.NODE_ENV === 'development'

export async function getBuildDirectory(): Promise<string> {
  const hash = createHash('sha256')
  const sources = [...new Bun.Glob('**/*.{ts,tsx,css}').scanSync({ cwd: import.meta.dir })].sort()
  for (const path of [
    ...sources.map((name) => join(import.meta.dir, name)),
    join(ROOT, 'package-lock.json'),
    // The one file of the snippet that is used here too.
    join(ROOT, 'snippet/proof-of-work.ts'),
  ]) {
    hash.update(`${path.slice(ROOT.length)}\0`).update(await Bun.file(path).bytes())
  }
  const name = hash.digest('hex').slice(0, 16)
  return join(getCacheDirectory(), isDevelopment ? `${name}-dev` : name)
}

function getCacheDirectory(): string {
  const beside = join(ROOT, 'node_modules', '.cache', 'towpath-dashboard')
  try {
    mkdirSync(beside, { recursive: true })
    accessSync(beside, constants.W_OK)
    return beside
  } catch {
    // Installed by somebody else: the program's directory is not ours to write to.
    return join(tmpdir(), `towpath-dashboard-${process.getuid?.() ?? ''}`)
  }
}
