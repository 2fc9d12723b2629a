// Counts the clicks of a batch, for the counters of links.

import { log } from '../../../lib/log.ts'
import type { Hit, HitClass } from '../../../storage/hits/hit.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { readHits } from './batch-reader.ts'

/** A batch's additions to the counter of a link: clicks by people, and the time of the last one. */
export type ClickCount = [linkId: number, clicks: number, lastAt: number]

type CountableHit = Pick<Hit, 'at' | 'linkId' | 'outcome'>

/** Adds a hit to `counts` when it is a click by a person. A link's counter has no other hits. */
export function countClick(counts: Map<number, ClickCount>, hitClass: HitClass, hit: CountableHit): void {
  if (hitClass !== 'human' || hit.outcome !== 'redirect' || hit.linkId === 0) return
  const count = counts.get(hit.linkId)
  if (count) {
    count[1]++
    count[2] = Math.max(count[2], hit.at)
  } else counts.set(hit.linkId, [hit.linkId, 1, hit.at])
}

/** Counts a batch from its file, with the same result as at its writing. Skips damaged lines. */
export async function countBatchClicks(batch: Batch): Promise<ClickCount[]> {
  const counts = new Map<number, ClickCount>()
  let damaged = 0
  for await (const hit of readHits(batch.path)) {
    if (hit) countClick(counts, hit.class, hit)
    else damaged++
  }
  if (damaged > 0) log.error('hit_batch_damaged', { path: batch.path, lines: damaged })
  return [...counts.values()]
}
