// Writes batches from the spool: enriches the new hits, and erases them in the spool once their batch is on the disk.

import { setImmediate } from 'node:timers/promises'
import type { SpoolPosition } from '../spool/position.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import { type BatchFile, createBatch, type OpenBatch } from './batch-file.ts'
import { type ClickCount, countClick } from './click-counts.ts'
import type { Enricher } from './enricher.ts'
import { createLineBuffer, type LineBuffer } from './ndjson-line.ts'

/** Usually enough for the lines of one read of the spool. Otherwise the buffer grows. */
const LINES_BYTES = 2 * 1024 * 1024

/** The target of new batches, and the listeners for them. */
export interface BatchSequence {
  /** The directory of this node's batches. */
  dir: string
  node: string
  /** The number of the last batch. `onBatch` advances it. */
  lastNumber(): number
  onBatch(batch: BatchFile, counts: ClickCount[]): void
}

export interface BatchWriterNeeds extends BatchSequence {
  reader: SpoolReader
  /** The approximate maximum of hits in a batch. */
  maxHits: number
  enricher: Enricher
  /** False for DuckDB, which would need a third more processor time to load compressed batches. */
  isCompressed: boolean
}

/** A batch with enriched hits that is not on the disk yet. */
interface UnsavedBatch {
  batch: OpenBatch
  end: SpoolPosition
  counts: ClickCount[]
}

/** Returns a function that enriches all new hits. Make one call at a time. It throws when the disk fails. */
export function createBatchWriter(needs: BatchWriterNeeds): () => Promise<void> {
  const lines = createLineBuffer(LINES_BYTES)
  return () => writeBatches(needs, lines)
}

async function writeBatches(needs: BatchWriterNeeds, lines: LineBuffer) {
  const { reader, maxHits } = needs
  let durable = reader.position()
  // The disk finishes one batch while the next one is enriched. Hits that arrive after the end of the spool was reached
  // are for the next pass. Otherwise every few hits would become a batch.
  let finishing = Promise.resolve()
  let unsaved: UnsavedBatch | null = null
  try {
    for (let number = needs.lastNumber() + 1; ; number++) {
      unsaved = await fillBatch(needs, lines, number)
      await finishing
      if (unsaved === null) break
      const { end, batch } = unsaved
      finishing = finishBatch(needs, unsaved).then(() => {
        durable = end
      })
      finishing.catch(() => undefined)
      unsaved = null
      if (batch.hits < maxHits) break
    }
    await finishing
    await reader.eraseBefore(reader.position())
  } catch (error) {
    await finishing.catch(() => undefined)
    await unsaved?.batch.discard()
    await reader.rewind(durable)
    throw error
  }
}

/** Enriches about `maxHits` hits, or all that there are; null without hits. */
async function fillBatch(
  { reader, enricher, maxHits, ...place }: BatchWriterNeeds,
  lines: LineBuffer,
  number: number,
): Promise<UnsavedBatch | null> {
  const counts = new Map<number, ClickCount>()
  let batch: OpenBatch | null = null
  try {
    while (batch === null || batch.hits < maxHits) {
      const rawHits = await reader.next()
      if (rawHits === null) break
      if (rawHits.length === 0) continue
      lines.end = 0
      for (const { id, raw } of rawHits) countClick(counts, enricher.enrich(id, raw, lines), raw)
      batch ??= await createBatch(place, number)
      await batch.add(lines.bytes.subarray(0, lines.end), rawHits.length)
      // Lets the worker answer questions, because the awaits above may all resolve without a turn of the event loop.
      await setImmediate()
    }
  } catch (error) {
    await batch?.discard()
    throw error
  } finally {
    enricher.clearCaches()
  }
  return batch && { batch, end: reader.position(), counts: [...counts.values()] }
}

/** Makes the batch durable. Then the spool can drop its hits, and the addresses in the spool are erased. */
async function finishBatch(needs: BatchWriterNeeds, { batch, end, counts }: UnsavedBatch) {
  let finished: BatchFile
  try {
    finished = await batch.finish(end)
  } catch (error) {
    await batch.discard()
    throw error
  }
  needs.onBatch(finished, counts)
  await needs.reader.eraseBefore(end)
}
