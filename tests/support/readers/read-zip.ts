// Reads a whole zip.

import { buffer } from 'node:stream/consumers'
import { openPromise } from 'yauzl'

/** @returns the bytes of each entry, in the order of the zip */
export async function readZip(path: string): Promise<Map<string, Uint8Array>> {
  const zip = await openPromise(path)
  const entries = new Map<string, Uint8Array>()
  for await (const entry of zip.eachEntry())
    entries.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  return entries
}
