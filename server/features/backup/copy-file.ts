// Copies and hashes files for backups, in pieces, so that redirects beside it do not wait for the disk.

import { constants, createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const PIECE_BYTES = 1024 * 1024
/**
 * The most bytes that wait for the disk. Without a bound, every commit of the server would wait for gigabytes.
 */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024
const ZEROS = Buffer.alloc(PIECE_BYTES)

export interface FileDigest {
  bytes: number
  sha256: string
}

export interface CopyNeeds {
  signal: AbortSignal
  /** Called after each piece. */
  onBytes(bytes: number): void
  /** Leaves pieces of zeros out: most of a segment of the spool has not been written yet. */
  isSparse?: boolean
  /** A symbolic link is an error, for directories that others may have written. */
  refusesLinks?: boolean
}

/** Copies a file to a new one that only this user may read. Resolves when the copy is on the disk. */
export async function copyFile(from: string, to: string, needs: CopyNeeds): Promise<FileDigest> {
  const source = await open(from, needs.refusesLinks ? constants.O_RDONLY | constants.O_NOFOLLOW : 'r')
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      const digest = await copyPieces(source, target, needs)
      await target.sync()
      return digest
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copyPieces(source: FileHandle, target: FileHandle, needs: CopyNeeds): Promise<FileDigest> {
  const { signal, onBytes, isSparse } = needs
  const hash = new Bun.CryptoHasher('sha256')
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  let bytes = 0
  let unsynced = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await source.read(piece, 0, PIECE_BYTES, bytes)
    if (bytesRead === 0) break
    const read = piece.subarray(0, bytesRead)
    hash.update(read)
    if (!(isSparse && read.equals(ZEROS.subarray(0, bytesRead)))) {
      await writeAll(target, read, bytes)
      unsynced += bytesRead
    }
    bytes += bytesRead
    onBytes(bytesRead)
    if (unsynced < SYNC_EVERY_BYTES) continue
    await target.datasync()
    unsynced = 0
  }
  if (isSparse) await target.truncate(bytes)
  return { bytes, sha256: hash.digest('hex') }
}

async function writeAll(target: FileHandle, bytes: Buffer, at: number) {
  for (let written = 0; written < bytes.length; )
    written += (await target.write(bytes, written, bytes.length - written, at + written)).bytesWritten
}

export async function hashFile(path: string, signal?: AbortSignal): Promise<FileDigest> {
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    signal?.throwIfAborted()
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

export const hashText = (text: string): FileDigest => ({
  bytes: Buffer.byteLength(text),
  sha256: new Bun.CryptoHasher('sha256').update(text).digest('hex'),
})
