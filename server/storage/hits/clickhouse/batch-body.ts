// Reads batch files for ClickHouse: as a compressed body for an insert, and as numbers that identify the hits of a batch.

import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { areWholeZstdFrames } from '../../../lib/formats/zstd-frames.ts'
import type { Hit } from '../hit.ts'

const CHUNK_BYTES = 1024 * 1024
/** A line of a hit has at most a few kilobytes. A file with a longer line is not a batch. */
const LINE_BYTES_MAX = 1024 * 1024
/** Fast: a fast disk and network gain nothing from more. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

const isCompressed = (path: string) => path.endsWith('.zst')

/** @returns the batch compressed by zstd: about 35 bytes a hit. @throws when a compressed batch is not whole */
export async function readBatchBody(path: string): Promise<Uint8Array> {
  if (isCompressed(path)) return readFrames(path)
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  return collect(pipe(file, createZstdCompress(LEVEL)))
}

/** @throws when the last frame is truncated: ClickHouse would load the rest as the whole batch */
async function readFrames(path: string): Promise<Uint8Array> {
  const frames = await readFile(path)
  if (!areWholeZstdFrames(frames)) throw new Error('A compressed batch is not whole')
  return frames
}

async function openLines(path: string): Promise<Readable> {
  if (!isCompressed(path)) return createReadStream(path, { highWaterMark: CHUNK_BYTES })
  const stream = createZstdDecompress()
  stream.end(await readFrames(path))
  return stream
}

/** Passes errors on, which `Readable.pipe` does not. */
function pipe(file: Readable, through: NodeJS.ReadWriteStream & Readable): Readable {
  file.on('error', (error) => through.destroy(error))
  return file.pipe(through) as Readable
}

async function collect(stream: Readable): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Numbers that identify a batch's hits in the table. */
export interface BatchExtent {
  /** Unique within a node. */
  ids: number[]
  times: { first: number; last: number }
  workspaceIds: Set<number>
}

/** @param since hits recorded before this moment are left out. @throws when a line is no JSON */
export async function readBatchExtent(path: string, since: number): Promise<BatchExtent> {
  const times = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  const extent: BatchExtent = { ids: [], times, workspaceIds: new Set() }
  for await (const line of readLines(await openLines(path))) {
    const { id, at, workspaceId } = JSON.parse(line) as Hit
    if (at < since) continue
    extent.ids.push(id)
    extent.workspaceIds.add(workspaceId)
    if (at < times.first) times.first = at
    if (at > times.last) times.last = at
  }
  return extent
}

async function* readLines(stream: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    if (text.length > LINE_BYTES_MAX) throw new Error('A batch has a line that is too long')
    for (const line of lines) if (line !== '') yield line
  }
  text += decoder.decode()
  if (text !== '') yield text
}
