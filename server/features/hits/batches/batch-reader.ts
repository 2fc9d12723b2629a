// A batch file that rotted on the disk: finding out that it did, and putting it out of the way of those behind it.

import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { log } from '../../../lib/log.ts'
import { isCleanText } from '../../../lib/text.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { syncToDisk } from '../../../storage/sync-to-disk.ts'

const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 10
const VISITOR_END = 2n ** 64n
// The disk cannot read it, or it is not there. Anything else may pass: too many open files, say.
const LOST_FILE_ERRORS = new Set(['EIO', 'ENOENT'])

/** Each line of a batch: the hit, or null where none can be read; a last null where the file itself cannot be. */
export async function* readHits(path: string): AsyncGenerator<Hit | null> {
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        yield parseHit(bytes.subarray(start, end))
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  } catch (error) {
    if (!LOST_FILE_ERRORS.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    yield null
  }
  if (rest.length > 0) yield parseHit(rest)
}

/** @returns whether every line is a hit that an engine can take, and how many lines there are. */
export async function inspectBatch(path: string): Promise<{ sound: boolean; hits: number }> {
  let sound = true
  let hits = 0
  for await (const hit of readHits(path)) {
    hits++
    if (!hit) sound = false
  }
  return { sound, hits }
}

/**
 * Puts an empty batch in its place, under its name: numbers stay without gaps, the place in the spool where it ended
 * stays known, and an engine that is built anew finds the same. The damaged file stays for whoever wants to look.
 * @param hits how many are lost with it, for the log
 */
export async function quarantineBatch(batch: Batch, hits: number): Promise<void> {
  const movedTo = `${batch.path}.unreadable`
  await rename(batch.path, movedTo).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const empty = await open(batch.path, 'w', 0o600)
  await empty.sync().finally(() => empty.close())
  await syncToDisk(dirname(batch.path))
  log.error('hit_batch_unreadable', { node: batch.node, batch: batch.number, hits, movedTo })
}

// Bytes that are not UTF-8 must show as damage, not as the replacement character, which a visitor may have sent.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseHit(line: Buffer): Hit | null {
  try {
    const hit = JSON.parse(utf8.decode(line))
    return isHit(hit) ? hit : null
  } catch {
    return null
  }
}

/** Whether an engine can take it: whole numbers, a visitor of 64 bits, and text that was not damaged. */
function isHit(value: unknown): value is Hit {
  if (typeof value !== 'object' || value === null) return false
  const { id, at, workspaceId, linkId, visitor, outcome, class: hitClass, trigger, ...texts } = value as Hit
  return (
    [id, at, workspaceId, linkId].every(Number.isSafeInteger) &&
    [outcome, hitClass, trigger].every((word) => typeof word === 'string') &&
    /^\d{1,20}$/.test(visitor) &&
    BigInt(visitor) < VISITOR_END &&
    Object.values(texts).every((text) => text === null || (typeof text === 'string' && isCleanText(text)))
  )
}
