// Reads the clicks of people in the batches that follow a position. Batches are the truth: an engine may be away.

import { setImmediate } from 'node:timers/promises'
import type { Hit } from '../../../storage/hits/hit.ts'
import type { BatchFile } from './batch-file.ts'
import { readHits } from './batch-reader.ts'

/** The position of a consumer of batches. */
export interface BatchPosition {
  /** The last batch that is consumed as a whole. */
  batch: number
  /** The last hit of the batch after it that is consumed; 0 for none. The ids of a batch ascend. */
  hit: number
}

export interface NewClicksQuery {
  after: BatchPosition
  /** The clicks of other workspaces are passed over. */
  workspaceIds: number[]
  /** The most clicks. */
  limit: number
}

export interface NewClicks {
  clicks: Hit[]
  /** After them. */
  position: BatchPosition
  /** More may follow. */
  hasMore: boolean
}

/** On their way from the worker: thousands of objects hold the server's event loop up four times as long as their text. */
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

/** Imported clicks are no news. A damaged line, which is in no figure either, is passed over. */
export async function readNewClicks(
  batches: readonly BatchFile[],
  { after, workspaceIds, limit }: NewClicksQuery,
): Promise<NewClicks> {
  const wanted = new Set(workspaceIds)
  const clicks: Hit[] = []
  let position = after
  // A copy: batches are added and pruned in the meantime.
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
