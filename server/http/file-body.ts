// Sends a temporary file as a response body. The kernel sends it from the disk, so it does not pass through this process.

/** Bun opens the file in the turn of the event loop in which it gets the response. This is a wide margin. */
const OPEN_WITHIN_MS = 200

/**
 * @param remove removes the file. It runs once the file is open (an open file is still sent to its end), or not needed
 * @returns null for HEAD. The caller sets Content-Length, so that HEAD has it too.
 */
export function toFileBody(method: string, path: string, remove: () => void): Bun.BunFile | null {
  if (method === 'HEAD') {
    remove()
    return null
  }
  setTimeout(remove, OPEN_WITHIN_MS)
  return Bun.file(path)
}
