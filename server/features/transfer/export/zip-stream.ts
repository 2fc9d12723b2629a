// Writes a zip while it is sent: one file after the other, none of them held in memory. The list of the files comes last, in
// the manifest and in the directory of the zip, so a stream that ends early is no zip at all.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

export interface ZipPart {
  name: string
  /** Texts or bytes of lines that end with a line feed. */
  read(): AsyncIterable<string | Uint8Array>
}

/** What a reader checks before it believes a file. */
export interface PartSum {
  name: string
  /** Lines. */
  records: number
  bytes: number
  sha256: string
}

/** No entry knows its size when it begins; with 64 bits it may become larger than 4 GiB. */
const OPTIONS = { forceZip64Format: true }
/** Checksums are made in the event loop: this much takes a fraction of a millisecond. */
const CHUNK_BYTES = 64 * 1024
const LINE_FEED = 10

/** @param toManifest makes the last file, of the sums of all others */
export async function* writeZip(
  parts: ZipPart[],
  manifestName: string,
  toManifest: (sums: PartSum[]) => string,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  const sums: PartSum[] = []
  let current: Readable | undefined
  const add = (name: string, read: () => AsyncIterable<Uint8Array>) =>
    zip.addReadStreamLazy(name, OPTIONS, (ready) => {
      current = Readable.from(read(), { objectMode: false, highWaterMark: CHUNK_BYTES })
      // A pipe passes no errors on.
      current.on('error', (error) => output.destroy(error))
      ready(null, current)
    })
  zip.on('error', (error) => output.destroy(error as Error))
  for (const { name, read } of parts) add(name, () => sum(name, toChunks(read()), sums))
  add(manifestName, () => toChunks([toManifest(sums)]))
  zip.end({ ...OPTIONS, comment: '' })
  try {
    yield* output
  } finally {
    current?.destroy()
  }
}

async function* sum(name: string, chunks: AsyncIterable<Uint8Array>, sums: PartSum[]) {
  const hash = createHash('sha256')
  let bytes = 0
  let records = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) records++
    yield chunk
  }
  sums.push({ name, records, bytes, sha256: hash.digest('hex') })
}

async function* toChunks(pieces: AsyncIterable<string | Uint8Array> | Iterable<string>) {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
      yield bytes.subarray(from, from + CHUNK_BYTES)
  }
}
