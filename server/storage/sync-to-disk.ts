// Makes what was written, or renamed, last through a power loss.

import { open } from 'node:fs/promises'

/** Of a file its bytes; of a directory the names in it, without which a rename is not safe either. */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
