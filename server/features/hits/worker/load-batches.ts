// Loads batches into a hit engine: all above the engine's marks, in order.

import type { SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { describeError, log } from '../../../lib/log.ts'
import { getTracer } from '../../../lib/telemetry/tracing.ts'
import type { Batch, HitEngine } from '../../../storage/hits/hit-engine.ts'

/** The number of consecutive times that the engine may refuse a batch before the batch is inspected. */
const REFUSALS_BEFORE_REPAIR = 3

export interface BatchLoading {
  /** Every node's batches in order. Called again at each pass. */
  batches(): (readonly Batch[])[]
  /** Inspects a batch that the engine keeps refusing. @returns true when it was damaged and now can be loaded */
  repair(batch: Batch): Promise<boolean>
  /** Called after each batch that was loaded. */
  onChange(): void
  /** The last batch of each node that the engine is known to hold. */
  marks: Map<string, number>
  /** The batch that the engine refused last, or that was loading when the engine ended. */
  refused: { batch: Batch; times: number } | null
  /** Loads run in this queue, one at a time, together with all work that must not overlap a load. */
  loadQueue: SerialQueue
}

/**
 * @param broken rejects when the engine dies
 * @param isStopping ends the pass early
 * @throws when the engine refuses a batch, or dies
 */
export async function loadBatches(
  loading: BatchLoading,
  engine: HitEngine,
  broken: Promise<never>,
  isStopping: () => boolean,
): Promise<void> {
  const { marks } = loading
  for (const list of loading.batches()) {
    const node = list[0]?.node
    if (node === undefined) continue
    let mark = marks.get(node) ?? (await engine.mark(node))
    marks.set(node, mark)
    // A copy: batches are added to the list and pruned from it in the meantime.
    for (const batch of list.filter(({ number }) => number > mark)) {
      if (isStopping()) return
      if (batch.number > mark + 1) {
        log.error('hit_batches_missing', { node, from: mark + 1, through: batch.number - 1 })
        await engine.skip(node, batch.number - 1)
      }
      await loading.loadQueue(() => loadBatch(loading, engine, broken, batch))
      mark = batch.number
      marks.set(node, mark)
      loading.onChange()
    }
  }
}

async function loadBatch(loading: BatchLoading, engine: HitEngine, broken: Promise<never>, batch: Batch) {
  const attributes = { 'towpath.batch': batch.number }
  const span = getTracer()?.start({ name: 'load batch', kind: 'internal', attributes })
  try {
    await Promise.race([engine.load(batch), broken])
    loading.refused = null
    span?.end()
  } catch (error) {
    span?.end({ failed: true })
    const times = loading.refused?.batch.path === batch.path ? loading.refused.times + 1 : 1
    loading.refused = { batch, times }
    throw error
  }
}

export const isEverythingLoaded = ({ batches, marks }: BatchLoading): boolean =>
  batches().every((list) => {
    const last = list.at(-1)
    return !last || (marks.get(last.node) ?? 0) >= last.number
  })

/** @returns whether the batch that was refused can be loaded now */
export async function repairRefused({ refused, repair }: BatchLoading): Promise<boolean> {
  if (!refused || refused.times < REFUSALS_BEFORE_REPAIR) return false
  try {
    return await repair(refused.batch)
  } catch (error) {
    log.error('hit_batch_not_repaired', describeError(error))
    return false
  }
}
