// Reads the clicks of people in the batches after a position. It reads batches, because an engine can be unavailable.

import { setImmediate } from 'node:timers/promises'
import type { Hit } from '../../../storage/hits/hit.ts'
import type { BatchFile } from './batch-file.ts'
import { readHits } from './batch-reader.ts'

/** The position of a consumer of batches. */
export interface BatchPosition {
  /** The last completely consumed batch. */
  batch: number
  /** The last consumed hit of the next batch; 0 for none. The ids of a batch ascend. */
  hit: number
}

export interface NewClicksQuery {
  after: BatchPosition
  /** The clicks of other workspaces are skipped. */
  workspaceIds: number[]
  /** The maximum of clicks. */
  limit: number
}

export interface NewClicks {
  clicks: Hit[]
  /** The position after the clicks. */
  position: BatchPosition
  /** There may be more clicks. */
  hasMore: boolean
}

/** Clicks as text in the worker's message: as objects, they would block the server's event loop four times as long. */
export interface PackedClicks extends Omit<NewClicks, 'clicks'> {
  json: string
}

export const packClicks = ({ clicks, ...rest }: NewClicks): PackedClicks => ({
  ...rest,
  json: JSON.stringify(clicks),
})

export const unpackClicks = ({ json, ...rest }: PackedClicks): NewClicks => ({
  ...rest,
  clicks: JSON.parse(json),
})

/** Skips imported clicks. Also skips damaged lines, which no figure counts. */
export async function readNewClicks(
  batches: readonly BatchFile[],
  { after, workspaceIds, limit }: NewClicksQuery,
): Promise<NewClicks> {
  const wanted = new Set(workspaceIds)
  const clicks: Hit[] = []
  let position = after
  // A copy, because batches are added and deleted meanwhile.
  for (const { number, path } of batches.filter((batch) => batch.number > after.batch)) {
    const from = number === after.batch + 1 ? after.hit : 0
    if (wanted.size > 0)
      for await (const hit of readHits(path)) {
        if (!hit || !isNews(hit) || hit.id <= from || !wanted.has(hit.workspaceId)) continue
        clicks.push(hit)
        if (clicks.length === limit)
          return { clicks, position: { batch: number - 1, hit: hit.id }, hasMore: true }
      }
    position = { batch: number, hit: 0 }
    await setImmediate()
  }
  return { clicks, position, hasMore: false }
}

const isNews = ({ class: hitClass, outcome, linkId, importId }: Hit) =>
  hitClass === 'human' && outcome === 'redirect' && linkId !== 0 && (importId ?? null) === null
