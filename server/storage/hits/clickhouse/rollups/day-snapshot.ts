// Snapshot of a day's hits: its changes, its number of hits, their hash, and the deletions that run. A roll-up counts
// only when the snapshots before and after the sums are equal.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import { IS_CLICK } from '../../hit-day.ts'
import type { ClickHouseClient } from '../client.ts'
import { DAY_CHANGES } from './day-changes.ts'
import { toDayCondition } from './roll-rules.ts'
import { readSilentBatches } from './silent-nodes.ts'

type Select = ClickHouseClient['select']

/** `end` is exclusive. */
export interface RollSpan {
  start: number
  end: number
}

export interface HitSnapshot {
  /** The days that have changes or hits. */
  days: Map<number, DaySnapshot>
  /** See `SILENT_BATCHES`. */
  silent: number
  mutations: Mutations
}

interface Mutations {
  /** The deletions of hits that ClickHouse knows, as one number. */
  known: string
  /** How many have not ended. */
  unfinished: number
}

export interface DaySnapshot {
  /** See `DAY_CHANGES`. */
  changes: number
  hits: number
  clicks: number
  /** The exclusive or of the hashes of the hits. */
  hash: string
}

export const EMPTY_DAY: DaySnapshot = { changes: 0, hits: 0, clicks: 0, hash: '0' }

const IN_SPAN = 'day >= {p1:Int64} AND day < {p2:Int64}'

export async function readSnapshot(select: Select, span: RollSpan): Promise<HitSnapshot> {
  const changes = await select(`SELECT day, ${DAY_CHANGES} FROM roll_touches WHERE ${IN_SPAN} GROUP BY day`, {
    params: [span.start, span.end],
  })
  const silent = await readSilentBatches(select)
  const mutations = await readMutations(select)
  const hits = await select(
    `SELECT intDiv(recorded_at, ${DAY_MS}) AS day, count(), countIf(${IS_CLICK}), groupBitXor(cityHash64(node, id))
     FROM hits WHERE ${toDayCondition(span)} GROUP BY day`,
  )
  const days = new Map<number, DaySnapshot>()
  for (const [day, count] of changes) days.set(Number(day), { ...EMPTY_DAY, changes: Number(count) })
  for (const [day, count, clicks, hash] of hits) {
    const { changes: known } = days.get(Number(day)) ?? EMPTY_DAY
    days.set(Number(day), {
      changes: known,
      hits: Number(count),
      clicks: Number(clicks),
      hash: String(hash),
    })
  }
  return { days, silent, mutations }
}

export async function readMutations(select: Select): Promise<Mutations> {
  const [[known, unfinished] = []] = await select(
    `SELECT groupBitXor(cityHash64(mutation_id)), countIf(NOT is_done) FROM system.mutations
     WHERE database = currentDatabase() AND table = 'hits'`,
  )
  return { known: String(known), unfinished: Number(unfinished) }
}
