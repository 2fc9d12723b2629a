// Reads the hits of a batch file, detects damage by the disk, and quarantines a damaged file.

import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readZstdFrames } from '../../../lib/formats/zstd-frames.ts'
import { log } from '../../../lib/log.ts'
import { isCleanText } from '../../../lib/text.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { quarantine, toUnreadablePath } from '../../../storage/quarantine.ts'
import { syncToDisk, writeDurably } from '../../../storage/write-durably.ts'
import { isCompressedBatch, toBatchBytes } from './batch-file.ts'

const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 10
const VISITOR_END = 2n ** 64n
/** The latest time of a JavaScript date, in milliseconds. */
const LAST_MOMENT = 8.64e15
/** The disk cannot read the file, or the file is absent. Other errors, such as too many open files, can go away. */
const LOST_FILE_ERRORS = new Set(['EIO', 'ENOENT'])

/**
 * Yields the hit of each line, or null for a line without a valid hit. A null at the end means that the file is unreadable.
 */
export async function* readHits(path: string): AsyncGenerator<Hit | null> {
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of readContent(path)) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        yield parseHit(bytes.subarray(start, end))
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  } catch (error) {
    if (!isLost(error, path)) throw error
    yield null
  }
  if (rest.length > 0) yield parseHit(rest)
}

/** A compressed batch of 200,000 hits has 5 MB. */
async function* readContent(path: string): AsyncGenerator<Buffer> {
  if (isCompressedBatch(path)) yield* readZstdFrames(await readFile(path))
  else yield* createReadStream(path, { highWaterMark: CHUNK_BYTES })
}

/** An error that is not from a system call is about the content of a compressed batch. */
function isLost(error: unknown, path: string): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return LOST_FILE_ERRORS.has(code) || (isCompressedBatch(path) && syscall === undefined)
}

/** @returns `intact` if an engine can load every line, and the number of lines */
export async function inspectBatch(path: string): Promise<{ intact: boolean; hits: number }> {
  let intact = true
  let hits = 0
  for await (const hit of readHits(path)) {
    hits++
    if (!hit) intact = false
  }
  return { intact, hits }
}

/**
 * Replaces a damaged batch by an empty one of the same name, and keeps the damaged file for the operator. So the numbers
 * have no gaps, the end of the batch in the spool stays known, and a rebuilt engine finds the same batches.
 * @param hits the number of hits that are lost with the batch, for the log
 */
export async function quarantineBatch(batch: Batch, hits: number): Promise<void> {
  await quarantine(batch.path)
  await writeDurably(batch.path, (file) => file.writeFile(toBatchBytes(batch.path, '')))
  await syncToDisk(dirname(batch.path))
  const movedTo = toUnreadablePath(batch.path)
  log.error('hit_batch_unreadable', { node: batch.node, batch: batch.number, hits, movedTo })
}

// Fatal: bytes that are not UTF-8 must count as damage, and not become U+FFFD, which a visitor may have sent.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseHit(line: Buffer): Hit | null {
  try {
    const hit = JSON.parse(utf8.decode(line))
    return isHit(hit) ? hit : null
  } catch {
    return null
  }
}

/** True if an engine can load the value: whole numbers, a visitor of 64 bits, and clean texts. */
function isHit(value: unknown): value is Hit {
  if (typeof value !== 'object' || value === null) return false
  // Batches of earlier releases have no `importId`.
  const {
    id,
    at,
    workspaceId,
    linkId,
    visitor,
    outcome,
    class: hitClass,
    trigger,
    importId,
    ...texts
  } = value as Hit
  return (
    [id, at, workspaceId, linkId].every(Number.isSafeInteger) &&
    at >= 0 &&
    at <= LAST_MOMENT &&
    (importId === undefined || importId === null || Number.isSafeInteger(importId)) &&
    [outcome, hitClass, trigger].every((word) => typeof word === 'string') &&
    /^\d{1,20}$/.test(visitor) &&
    BigInt(visitor) < VISITOR_END &&
    Object.values(texts).every((text) => text === null || (typeof text === 'string' && isCleanText(text)))
  )
}
