// Spool → batches: describes what is new and destroys it in the spool once its batch is on the disk.

import { type BatchFile, type ClickCount, countClick, createBatch, type OpenBatch } from './batches.ts'
import type { Describer } from './describe.ts'
import type { SpoolReader } from './read-spool.ts'
import { emptyLines } from './write-line.ts'

/** As the lines of one reading of the spool usually take; more where they must. */
const LINES_BYTES = 2 * 1024 * 1024

export interface BatchWriting {
  reader: SpoolReader
  /** Where this node's batches are. */
  dir: string
  node: string
  /** The number before the next batch's. */
  lastNumber: number
  maxHits: number
  describer: Describer
  onBatch(batch: BatchFile, counts: ClickCount[]): void
}

/** Returns what describes everything that is new; one call at a time. It throws when the disk does. */
export function batchWriter(writing: BatchWriting): () => Promise<void> {
  const { reader, describer, maxHits } = writing
  let { lastNumber } = writing
  // Two: one is filled while the other is written.
  let lines = emptyLines(LINES_BYTES)
  let written = emptyLines(LINES_BYTES)

  /** One batch of about `maxHits` hits, or of what there is; whether there may be more. */
  async function writeOne(): Promise<boolean> {
    const durable = reader.position()
    const counts = new Map<number, ClickCount>()
    let batch: OpenBatch | null = null
    let more = true
    try {
      while (batch === null || batch.hits < maxHits) {
        const raws = await reader.next()
        if (raws === null) {
          more = false
          break
        }
        if (raws.length === 0) continue
        lines.end = 0
        for (const { id, raw } of raws) countClick(counts, describer.describe(id, raw, lines), raw)
        batch ??= await createBatch(writing.dir, writing.node, lastNumber + 1)
        await batch.add(lines.bytes.subarray(0, lines.end), raws.length)
        ;[lines, written] = [written, lines]
      }
      if (batch === null) return more
      const finished = await batch.finish(reader.position())
      lastNumber = finished.number
      writing.onBatch(finished, [...counts.values()])
      return more
    } catch (error) {
      await reader.rewind(durable)
      await batch?.discard()
      throw error
    } finally {
      describer.forget()
    }
  }

  return async () => {
    // Each batch at once: on a long backlog addresses go with the batch that covers them, not with the last. What
    // comes after the end was reached is for the next pass: following it would make a batch of every few hits.
    while (await writeOne()) await reader.forget()
    await reader.forget()
  }
}
