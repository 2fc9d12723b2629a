// Writes the zip of a workspace while it is sent. Its last file is the list of all files with their checksums. A reader accepts
// only files of this list.

import { createHash } from 'node:crypto'
import { type FileOfZip, zipFiles } from '../../../lib/formats/zip-files.ts'

/** The size and checksum of a file, which a reader verifies. */
export interface PartSum {
  name: string
  /** The number of lines. */
  records: number
  bytes: number
  sha256: string
}

const LINE_FEED = 10

/**
 * @param parts files of lines that end with a line feed
 * @param blobs files after them that are not in the list, because a record names each of them with its checksum
 * @param toManifest creates the last file from the checksums of all others
 */
export function writeZip(
  parts: FileOfZip[],
  blobs: AsyncIterable<FileOfZip>,
  manifestName: string,
  toManifest: (sums: PartSum[]) => string,
): AsyncGenerator<Uint8Array> {
  const sums: PartSum[] = []
  const summed = parts.map(({ name, read }) => ({ name, read: () => sum(name, read(), sums) }))
  const manifest = async function* () {
    yield toManifest(sums)
  }
  return zipFiles(
    (async function* () {
      yield* summed
      yield* blobs
      yield { name: manifestName, read: manifest }
    })(),
  )
}

async function* sum(name: string, pieces: AsyncIterable<string | Uint8Array>, sums: PartSum[]) {
  const hash = createHash('sha256')
  let bytes = 0
  let records = 0
  for await (const piece of pieces) {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
    hash.update(chunk)
    bytes += chunk.length
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) records++
    yield chunk
  }
  sums.push({ name, records, bytes, sha256: hash.digest('hex') })
}
