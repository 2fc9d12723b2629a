// Moves unreadable files out of the way, and keeps them for an operator to look at.

import { rename } from 'node:fs/promises'

/**
 * Where a quarantined file of the spool or of the batches goes. Erasing a workspace deletes the files of such a name.
 */
export const toUnreadablePath = (path: string) => `${path}.unreadable`

export const isUnreadableName = (name: string) => name.endsWith('.unreadable')

/** Moves a file out of the way. Does nothing when the file does not exist. */
export async function quarantine(path: string, movedTo = toUnreadablePath(path)): Promise<void> {
  await rename(path, movedTo).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
