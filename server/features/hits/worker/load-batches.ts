// Loads batches into a hit engine: all above the engine's marks, in order.

import type { SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { describeError, log } from '../../../lib/log.ts'
import { getTracer } from '../../../lib/telemetry/tracing.ts'
import type { Batch, HitEngine } from '../../../storage/hits/hit-engine.ts'

/** A batch is inspected after this number of consecutive refusals. */
const REFUSALS_BEFORE_REPAIR = 3

export interface BatchLoading {
  /** Every node's batches in order. Called again at each pass. */
  batches(): (readonly Batch[])[]
  /** Inspects a repeatedly refused batch. @returns true if it was damaged, and can be loaded now */
  repair(batch: Batch): Promise<boolean>
  /** Called after each loaded batch. */
  onChange(): void
  /** The last batch of each node that the engine is known to have. */
  marks: Map<string, number>
  /** The last refused batch, or the batch that was loading when the engine died. */
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
    // A copy, because batches are added and deleted meanwhile.
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

/** @returns true if the refused batch can be loaded now */
export async function repairRefused({ refused, repair }: BatchLoading): Promise<boolean> {
  if (!refused || refused.times < REFUSALS_BEFORE_REPAIR) return false
  try {
    return await repair(refused.batch)
  } catch (error) {
    log.error('hit_batch_not_repaired', describeError(error))
    return false
  }
}
