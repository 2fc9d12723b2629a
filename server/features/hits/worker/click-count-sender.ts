// The worker's side of the click counts: sends the counts of one batch at a time, in order, and the next ones once the server
// has stored them. After a crash the counts are sent again, but count once because of the mark in the rows.

import type { BatchFile } from '../batches/batch-file.ts'
import { type ClickCount, countBatchClicks } from '../batches/click-counts.ts'

/** The number of new batches whose counts stay in memory. Other batches are counted again from their files. */
const COUNTS_IN_MEMORY = 8

export interface ClickCountSender {
  /** Adds a batch that was just written. */
  add(batch: BatchFile, counts: ClickCount[]): void
  /** Call it when the counts of this batch and of all earlier ones are stored. */
  confirmStored(number: number): void
  /** The last batch with stored counts. */
  lastCounted(): number
}

export function createClickCountSender(options: {
  countedUpTo: number
  /** This node's batches in order. */
  batches: readonly BatchFile[]
  send(number: number, counts: ClickCount[]): void
  onError(error: unknown): void
}): ClickCountSender {
  const { batches, send, onError } = options
  const recent = new Map<number, ClickCount[]>()
  let counted = options.countedUpTo
  let sending = false

  async function sendNext() {
    if (sending) return
    const batch = batches.find(({ number }) => number > counted)
    if (!batch) return
    sending = true
    try {
      const counts = recent.get(batch.number) ?? (await countBatchClicks(batch))
      recent.delete(batch.number)
      send(batch.number, counts)
    } catch (error) {
      sending = false
      onError(error)
    }
  }

  void sendNext()
  return {
    add(batch, counts) {
      recent.set(batch.number, counts)
      if (recent.size > COUNTS_IN_MEMORY) recent.delete(recent.keys().next().value as number)
      void sendNext()
    },
    confirmStored(number) {
      counted = Math.max(counted, number)
      sending = false
      void sendNext()
    },
    lastCounted: () => counted,
  }
}
