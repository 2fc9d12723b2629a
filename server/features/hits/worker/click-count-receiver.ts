// The server's end of the counts: stores one batch after the other, each until it is stored.

import { describeError, log } from '../../../lib/log.ts'
import type { ClickCount } from '../batches/batch-file.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000

/** The counts of one batch, to be added to the links in the transaction that moves the node's mark to `number`. */
export interface BatchClickCounts {
  node: string
  number: number
  counts: ClickCount[]
}

export function createClickCountReceiver(options: {
  node: string
  /** The last batch whose counts are stored already. */
  stored: number
  store(counts: BatchClickCounts): Promise<void>
  onStored(number: number): void
}) {
  const { node, store, onStored } = options
  let { stored } = options
  let stopped = false
  let current = 0
  let waiting: { through: number; resolve(): void }[] = []

  function settle(failed: boolean) {
    const ready = waiting.filter(({ through }) => failed || through <= stored)
    waiting = waiting.filter((each) => !ready.includes(each))
    for (const { resolve } of ready) resolve()
  }

  async function storeOne(number: number, counts: ClickCount[]) {
    for (let pauseMs = FIRST_PAUSE_MS; !stopped; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await store({ node, number, counts })
        stored = number
        onStored(number)
        return settle(false)
      } catch (error) {
        log.error('click_counts_not_stored', { batch: number, ...describeError(error) })
        settle(true)
        await Bun.sleep(pauseMs)
      }
    }
  }

  return {
    /** One at a time: the next is sent when this one is stored. */
    add(number: number, counts: ClickCount[]) {
      // A new worker sends again what the lost one had sent.
      if (number <= stored) return onStored(stored)
      if (number === current) return
      current = number
      void storeOne(number, counts)
    },
    /** Resolves when all up to `through` are stored, or when an attempt fails. */
    settled: (through: number) =>
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
