// The server's side of the click counts: stores the counts of one batch after the other, and retries each until it is stored.

import { createBackoff } from '../../../lib/concurrency/backoff.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { ClickCount } from '../batches/click-counts.ts'

/** The counts of one batch. The transaction that adds them to the links moves the node's mark to `number`. */
export interface BatchClickCounts {
  node: string
  number: number
  counts: ClickCount[]
}

export interface ClickCountReceiver {
  /** Stores the counts of a batch. The worker sends the next ones when these are stored. */
  add(number: number, counts: ClickCount[]): void
  /** Resolves when all batches up to `through` are stored, or when an attempt fails. */
  settled(through: number): Promise<void>
  stop(): void
}

export function createClickCountReceiver(options: {
  node: string
  /** The last batch with stored counts. */
  stored: number
  store(counts: BatchClickCounts): Promise<void>
  onStored(number: number): void
}): ClickCountReceiver {
  const { node, store, onStored } = options
  let { stored } = options
  let stopped = false
  let current = 0
  let waiting: { through: number; resolve(): void }[] = []

  function settle(hasFailed: boolean) {
    const ready = waiting.filter(({ through }) => hasFailed || through <= stored)
    waiting = waiting.filter((waiter) => !ready.includes(waiter))
    for (const { resolve } of ready) resolve()
  }

  async function storeWithRetries(number: number, counts: ClickCount[]) {
    const backoff = createBackoff()
    while (!stopped) {
      try {
        await store({ node, number, counts })
        stored = number
        onStored(number)
        return settle(false)
      } catch (error) {
        log.error('click_counts_not_stored', { batch: number, ...describeError(error) })
        settle(true)
        await Bun.sleep(backoff.nextMs())
      }
    }
  }

  return {
    add(number, counts) {
      // A new worker repeats the messages of the lost one.
      if (number <= stored) return onStored(stored)
      if (number === current) return
      current = number
      void storeWithRetries(number, counts)
    },
    settled: (through) =>
      new Promise<void>((resolve) => {
        waiting.push({ through, resolve })
        settle(false)
      }),
    stop() {
      stopped = true
      settle(true)
    },
  }
}
