// A body that is a file, which the kernel sends from the disk without its passing through our memory.

/** Bun opens the file in the turn of the event loop in which it gets the answer; this is a wide margin. */
const OPEN_WITHIN_MS = 200

/**
 * @param remove called once the file is open (what was opened is sent to its end), or is not needed
 * @returns null where there is nothing to send. Content-Length is the caller's to set, so that HEAD has it too
 */
export function toFileBody(method: string, path: string, remove: () => void): Bun.BunFile | null {
  if (method === 'HEAD') {
    remove()
    return null
  }
  setTimeout(remove, OPEN_WITHIN_MS)
  return Bun.file(path)
}
