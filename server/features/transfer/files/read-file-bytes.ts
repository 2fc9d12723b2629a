// Reads the bytes of a file in pieces, and unpacks gzip meanwhile, up to a limit.

import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { FileProblem } from './source-file.ts'

const PIECE_BYTES = 64 * 1024
/** The limit of unpacking gzip: click logs compress to a twentieth, bombs to a thousandth. */
const GZIP_RATIO_MAX = 200
const GZIP_FREE_BYTES = 64 * 1024 * 1024

/** The bytes of a file, or of the gzip content. @throws FileProblem if a gzip file is damaged or too large */
export async function* readFileBytes(path: string, gzipped: boolean): AsyncGenerator<Buffer> {
  const handle = await open(path)
  try {
    if (gzipped) yield* unpack(handle)
    else yield* readPieces(handle)
  } finally {
    await handle.close()
  }
}

async function* readPieces(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}

async function* unpack(handle: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await handle.stat()
  const bound = Math.max(GZIP_FREE_BYTES, size * GZIP_RATIO_MAX)
  let bytes = 0
  const unpacked = pipeline(
    Readable.from(readPieces(handle)),
    createGunzip({ chunkSize: PIECE_BYTES }),
    () => {},
  )
  try {
    for await (const piece of unpacked as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > bound) {
        const times = `more than ${GZIP_RATIO_MAX} times its size`
        throw new FileProblem(`The gzip file unpacks to ${times}. Unpack it, and send what is in it.`)
      }
      yield piece
    }
  } catch (error) {
    if (error instanceof FileProblem) throw error
    const isShort = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
    throw new FileProblem(
      isShort
        ? 'The gzip file ends too early. Copy it again: a part of it is missing.'
        : 'The gzip file is damaged. Pack it again, or send it unpacked.',
    )
  }
}
