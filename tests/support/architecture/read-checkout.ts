// Reads the files of a checkout: tracked and addable files, or all files without git.

import { join } from 'node:path'
import type { RepositoryFile } from './rule.ts'

export const ROOT = join(import.meta.dir, '../../..')

/** Folders to skip in a copy without git: installed and stored files. */
const listAllPaths = (root: string) =>
  [...new Bun.Glob('**').scanSync({ cwd: root, dot: true })].filter(
    (path) => !/^(node_modules|data|\.git)\//.test(path),
  )

export async function readCheckout(root = ROOT): Promise<RepositoryFile[]> {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
  const paths = listed.success ? listed.stdout.toString().split('\0').filter(Boolean) : listAllPaths(root)
  const files: RepositoryFile[] = []
  for (const path of paths) {
    const file = Bun.file(join(root, path))
    if (await file.exists()) files.push({ path, text: await file.text() })
  }
  return files
}
