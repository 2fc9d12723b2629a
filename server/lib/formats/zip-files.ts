// Writes a zip while it is sent, one file after the other, without holding a file in memory. The zip's directory
// comes last, so an interrupted stream is not a valid zip.

import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

export interface FileOfZip {
  name: string
  read(): AsyncIterable<string | Uint8Array>
  /** Not compressed again, because it would hardly become smaller. */
  isCompressed?: boolean
}

/** No entry knows its size when it begins; with 64 bits it may become larger than 4 GiB. */
const OPTIONS = { forceZip64Format: true }
/** Checksums are made in the event loop: this much takes a fraction of a millisecond. */
const CHUNK_BYTES = 64 * 1024

/** @param files the next one is asked for when the one before is in the zip, so a generator may name them as it goes */
export async function* zipFiles(
  files: AsyncIterable<FileOfZip> | Iterable<FileOfZip>,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let current: Readable | undefined
  let hasEnded = false
  const add = ({ name, read, isCompressed }: FileOfZip) =>
    new Promise<void>((resolve, reject) => {
      zip.addReadStreamLazy(name, { ...OPTIONS, compress: !isCompressed }, (ready) => {
        current = Readable.from(toChunks(read()), { objectMode: false, highWaterMark: CHUNK_BYTES })
        current.on('end', resolve)
        current.on('error', reject)
        current.on('close', resolve)
        ready(null, current)
      })
    })
  const fill = async () => {
    for await (const file of files) {
      if (hasEnded) return
      await add(file)
    }
    zip.end({ ...OPTIONS, comment: '' })
  }
  zip.on('error', (error) => output.destroy(error as Error))
  // A pipe passes no errors on.
  void fill().catch((error) => output.destroy(error))
  try {
    yield* output
  } finally {
    hasEnded = true
    current?.destroy()
  }
}

async function* toChunks(pieces: AsyncIterable<string | Uint8Array>) {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
      yield bytes.subarray(from, from + CHUNK_BYTES)
  }
}
