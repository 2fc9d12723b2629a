// Syncs the names of all files of a tree to the disk. The files themselves are synced when they are written.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncToDisk } from '../../storage/write-durably.ts'

export async function syncDirectories(root: string): Promise<void> {
  for (const entry of await readdir(root, { withFileTypes: true }))
    if (entry.isDirectory()) await syncDirectories(join(root, entry.name))
  await syncToDisk(root)
}
