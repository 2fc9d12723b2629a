// Spool → batches: describes what is new and destroys it in the spool once its batch is on the disk.

import { setImmediate } from 'node:timers/promises'
import type { SpoolReader } from '../spool/spool-reader.ts'
import {
  type BatchFile,
  type ClickCount,
  countClick,
  createBatch,
  type OpenBatch,
  type SpoolPosition,
} from './batch-file.ts'
import type { Enricher } from './enricher.ts'
import { createLineBuffer } from './ndjson-line.ts'

/** As the lines of one reading of the spool usually take; more where they must. */
const LINES_BYTES = 2 * 1024 * 1024

export interface BatchWriterNeeds {
  reader: SpoolReader
  /** Where this node's batches are. */
  dir: string
  node: string
  /** The number before the next batch's; `onBatch` moves it on. */
  lastNumber(): number
  maxHits: number
  enricher: Enricher
  onBatch(batch: BatchFile, counts: ClickCount[]): void
}

/** A batch whose hits are described, and that is not yet safe. */
interface UnsavedBatch {
  batch: OpenBatch
  end: SpoolPosition
  counts: ClickCount[]
}

/** Returns what describes everything that is new; one call at a time. It throws when the disk does. */
export function createBatchWriter(writing: BatchWriterNeeds): () => Promise<void> {
  const { reader, enricher, maxHits } = writing
  const lines = createLineBuffer(LINES_BYTES)

  /** Describes about `maxHits` hits, or what there is; null when that is nothing. */
  async function fill(number: number): Promise<UnsavedBatch | null> {
    const counts = new Map<number, ClickCount>()
    let batch: OpenBatch | null = null
    try {
      while (batch === null || batch.hits < maxHits) {
        const raws = await reader.next()
        if (raws === null) break
        if (raws.length === 0) continue
        lines.end = 0
        for (const { id, raw } of raws) countClick(counts, enricher.enrich(id, raw, lines), raw)
        batch ??= await createBatch(writing.dir, writing.node, number)
        await batch.add(lines.bytes.subarray(0, lines.end), raws.length)
        // Nothing above need have waited for anything: the worker's questions get their turn.
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

  /** From here on the spool need not have these hits, and the addresses in it go. */
  async function finish({ batch, end, counts }: UnsavedBatch) {
    let finished: BatchFile
    try {
      finished = await batch.finish(end)
    } catch (error) {
      await batch.discard()
      throw error
    }
    writing.onBatch(finished, counts)
    await reader.eraseBefore(end)
  }

  return async () => {
    let durable = reader.position()
    // The disk has one batch while the next is described. What comes after the end was reached is for the next pass:
    // following it would make a batch of every few hits.
    let finishing = Promise.resolve()
    let ahead: UnsavedBatch | null = null
    try {
      for (let number = writing.lastNumber() + 1; ; number++) {
        ahead = await fill(number)
        await finishing
        if (ahead === null) break
        const { end, batch } = ahead
        finishing = finish(ahead).then(() => {
          durable = end
        })
        finishing.catch(() => undefined)
        ahead = null
        if (batch.hits < maxHits) break
      }
      await finishing
      await reader.eraseBefore(reader.position())
    } catch (error) {
      await finishing.catch(() => undefined)
      await ahead?.batch.discard()
      await reader.rewind(durable)
      throw error
    }
  }
}
