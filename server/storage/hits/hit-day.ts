// Figures of each day, which a move to another engine compares in both engines.

import type { Hit } from './hit.ts'
import { HIT_COLUMNS } from './hit-columns.ts'

/** Days are numbers: whole UTC days since 1970. */
export interface HitDay {
  day: number
  hits: number
}

/** The hits of one workspace on one day. */
export interface HitDayFigures {
  workspaceId: number
  hits: number
  clicks: number
  /** Exact distinct count. */
  visitors: number
  /** The exclusive or of 64 bits of each hit's MD5, as decimal digits. */
  hash: string
}

/** The condition of a click, in both engines. */
export const IS_CLICK = "outcome = 'redirect' AND class = 'human'"

/** @param row workspace, hits, clicks, visitors, hash: the answer of an engine */
export const toDayFigures = ([
  workspaceId,
  hits,
  clicks,
  visitors,
  hash,
]: readonly unknown[]): HitDayFigures => ({
  workspaceId: Number(workspaceId),
  hits: Number(hits),
  clicks: Number(clicks),
  visitors: Number(visitors),
  hash: String(hash),
})

/** The hits of one node in a part of a day, in a file of `Hit`s as lines of JSON. */
export interface HitSlice {
  node: string
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
  hits: number
}

/** The columns of a hit as texts, in one order for every engine. A text that is null is hashed like an empty one. */
export const HASHED_COLUMNS: readonly string[] = [
  'node',
  ...(Object.keys(HIT_COLUMNS) as (keyof Hit)[]).map((field) => HIT_COLUMNS[field]),
]

/** @returns the first workspace whose figures differ, with a sentence about the difference; undefined if all are equal */
export function findDayDifference(
  source: readonly HitDayFigures[],
  copy: readonly HitDayFigures[],
): { workspaceId: number; sentence: string } | undefined {
  const copied = new Map(copy.map((figures) => [figures.workspaceId, figures]))
  const ids = new Set([...source, ...copy].map(({ workspaceId }) => workspaceId))
  const sources = new Map(source.map((figures) => [figures.workspaceId, figures]))
  for (const workspaceId of [...ids].sort((a, b) => a - b)) {
    const [from, to] = [sources.get(workspaceId), copied.get(workspaceId)]
    for (const name of ['hits', 'clicks', 'visitors', 'hash'] as const) {
      const [here, there] = [from?.[name] ?? 0, to?.[name] ?? 0]
      if (here === there) continue
      const sentence =
        name === 'hash'
          ? 'as many hits after the move as before it, but not the same ones'
          : `${here} ${name} before the move, and ${there} after it`
      return { workspaceId, sentence }
    }
  }
  return undefined
}
