// The files of a data directory as they lie on the disk. It reads names and owners, and changes nothing.

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

export interface DataFile {
  /** Below the data directory. */
  name: string
  stats: Stats
}

/** The batches of a week are 20,000 files at most. */
const FILES_MAX = 100_000

/** Files that go while the directory is read are left out. */
export async function listDataFiles(dataDir: string): Promise<DataFile[]> {
  const files: DataFile[] = []
  const directories = [dataDir]
  for (let dir = directories.pop(); dir !== undefined; dir = directories.pop()) {
    const names = await readdir(dir).catch(ignoreAbsent([]))
    for (const name of names) {
      const path = join(dir, name)
      const stats = await lstat(path).catch(ignoreAbsent(undefined))
      if (!stats) continue
      files.push({ name: relative(dataDir, path), stats })
      if (stats.isDirectory()) directories.push(path)
      if (files.length >= FILES_MAX) return files
    }
  }
  return files
}

const ignoreAbsent =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== 'ENOENT') throw error
    return instead
  }
