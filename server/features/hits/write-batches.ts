// Spool → batches: describes what is new and destroys it in the spool once its batch is on the disk.

import type { Hit } from '../../storage/hits/hit.ts'
import { type BatchFile, type ClickCount, countClicks, createBatch, type OpenBatch } from './batches.ts'
import type { RawHit } from './raw-hit.ts'
import type { SpoolReader } from './read-spool.ts'

export interface BatchWriting {
  reader: SpoolReader
  /** Where this node's batches are. */
  dir: string
  node: string
  /** The number before the next batch's. */
  lastNumber: number
  maxHits: number
  describe(id: number, raw: RawHit): Hit
  onBatch(batch: BatchFile, counts: ClickCount[]): void
}

/** Returns what describes everything that is new; one call at a time. It throws when the disk does. */
export function batchWriter(writing: BatchWriting): () => Promise<void> {
  const { reader, maxHits } = writing
  let { lastNumber } = writing

  /** Up to `maxHits` hits into one batch; false when there was none. */
  async function writeOne(): Promise<boolean> {
    const durable = reader.position()
    const counts = new Map<number, ClickCount>()
    let batch: OpenBatch | null = null
    try {
      while (batch === null || batch.hits < maxHits) {
        const raws = await reader.next()
        if (raws === null) break
        if (raws.length === 0) continue
        const hits = raws.map(({ id, raw }) => writing.describe(id, raw))
        batch ??= await createBatch(writing.dir, writing.node, lastNumber + 1)
        await batch.add(hits)
        countClicks(hits, counts)
      }
      if (batch === null) return false
      const finished = await batch.finish(reader.position())
      lastNumber = finished.number
      writing.onBatch(finished, [...counts.values()])
      return true
    } catch (error) {
      await reader.rewind(durable)
      await batch?.discard()
      throw error
    }
  }

  return async () => {
    // Each batch at once: on a long backlog addresses go with the batch that covers them, not with the last.
    while (await writeOne()) await reader.forget()
    await reader.forget()
  }
}
