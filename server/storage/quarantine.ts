// Moves unreadable files aside, and keeps them for the operator.

import { rename } from 'node:fs/promises'

/**
 * The path of a quarantined file of the spool or of the batches. Erasing a workspace deletes files with such names.
 */
export const toUnreadablePath = (path: string) => `${path}.unreadable`

export const isUnreadableName = (name: string) => name.endsWith('.unreadable')

/** Moves a file aside. Does nothing if the file does not exist. */
export async function quarantine(path: string, movedTo = toUnreadablePath(path)): Promise<void> {
  await rename(path, movedTo).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
