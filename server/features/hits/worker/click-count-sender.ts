// Batches → link counters: hands over the counts of each batch in order, one at a time, and goes on when they are
// stored. What was handed over when a process died is handed over again: the rows' own mark makes it count once.

import type { BatchFile, ClickCount } from '../batches/batch-file.ts'
import { countBatchClicks } from '../batches/batch-file.ts'

/** Counts of this many new batches are kept in memory; the others are counted again from their files. */
const COUNTS_IN_MEMORY = 8

export interface ClickCountSender {
  /** A batch was just written. */
  add(batch: BatchFile, counts: ClickCount[]): void
  /** The counts of this batch and all before are stored. */
  confirmStored(number: number): void
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
