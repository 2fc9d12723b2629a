// Tells roll-ups that the hits of a day change. A roll-up of a day counts while the day has as many touches as it had when
// the roll-up was made, so a touch invalidates it.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import type { ClickHouseClient } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'

export type TouchClient = Pick<ClickHouseClient, 'select' | 'execute'>
type ChangeClient = Pick<ClickHouseClient, 'select' | 'execute' | 'atOneServer'>

/** What changes hits: a batch of a node, or a deletion, a move, a repair. A node's name has no slash. */
export interface TouchSource {
  source: string
  /**
   * Of a node: the day is rolled up only when the node's batches up to this number are loaded.
   * Of anything else: whether the change begins (`BEGUN`) or is over (`OVER`).
   */
  number: number
}

const BEGUN = 0
const OVER = 1

/** @returns a source that is no node: no batch says when its change is over */
export const createTouchSource = (kind: 'delete' | 'move' | 'repair'): TouchSource => ({
  source: `${kind}/${crypto.randomUUID()}`,
  number: OVER,
})

const isNode = (source: string) => !source.includes('/')

/** A whole number that JavaScript and ClickHouse both hold exactly. It is never 0. */
export function createRandomNumber(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return (high >>> 11) * 2 ** 32 + low || 1
}

/** The last day that may be rolled up: whoever changes hits of a day up to it has to touch the day. */
export async function readIntent(client: Pick<TouchClient, 'select'>): Promise<number> {
  const [[count, day] = []] = await client.select('SELECT count(), max(day) FROM roll_intents')
  return Number(count) === 0 ? Number.NEGATIVE_INFINITY : Number(day)
}

export interface DayTouches {
  touches: number
  /** A batch that has touched the day is not loaded: its hits can come at any moment. */
  isAwaited: boolean
  /** A deletion or a move of the day has begun and is not over. */
  isChanging: boolean
}

/** Reads the days that have touches. A change that began a day ago is one of a process that was killed. */
export async function readTouches({ select }: Pick<TouchClient, 'select'>): Promise<Map<number, DayTouches>> {
  const rows = await select(
    `SELECT day, sum(count), max(awaited), max(changing) FROM (
       SELECT day, source, uniqExact(touch) AS count, position(source, '/') = 0 AS is_node,
         is_node AND max(number) > ifNull(any(loaded), 0) AS awaited,
         NOT is_node AND max(number) = ${BEGUN} AND max(touched_at) > now64(3) - INTERVAL 1 DAY AS changing
       FROM roll_touches
       LEFT JOIN (SELECT node, max(batch) AS loaded FROM hit_marks GROUP BY node) AS marks ON source = node
       GROUP BY day, source
     ) GROUP BY day`,
  )
  return new Map(
    rows.map(([day, touches, awaited, changing]) => [
      Number(day),
      { touches: Number(touches), isAwaited: Number(awaited) === 1, isChanging: Number(changing) === 1 },
    ]),
  )
}

/** Adds one touch to each day. A touch has a random number, so that a repeated statement adds it once. */
export async function touchDays(
  client: TouchClient,
  { source, number }: TouchSource,
  days: readonly number[],
): Promise<void> {
  if (days.length === 0) return
  const touch = createRandomNumber()
  const params: SqlValue[] = [[...days], source, number, touch]
  const [list, ...rest] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_touches SETTINGS async_insert = 0
     SELECT arrayJoin(${list}), ${rest.join(', ')}, now64(3)`,
    { params },
  )
}

/**
 * Runs work that changes hits of these days, and touches the days, so that no roll-up counts while the hits change, and
 * none is made.
 */
export const changeHits = <T>(
  client: ChangeClient,
  source: TouchSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> =>
  isNode(source.source) ? loadHits(client, source, days, work) : replaceHits(client, source, days, work)

/**
 * A batch touches the days that may be rolled up. After the work it looks once more: a day that was no concern of roll-ups
 * before may have become one meanwhile, however long this process was stopped. If it still is none, every roll-up of it
 * reads the hits later than this.
 */
async function loadHits<T>(
  client: ChangeClient,
  source: TouchSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  if (days.length === 0) return work()
  const before = await readIntent(client)
  await touchDays(
    client,
    source,
    days.filter((day) => day <= before),
  )
  const result = await work()
  const after = await client.atOneServer(readWholeIntent, true)
  await touchDays(
    client,
    source,
    days.filter((day) => day > before && day <= after),
  )
  return result
}

/** Another server may have stored an intent that this one lacks. */
async function readWholeIntent(server: Pick<TouchClient, 'select'>): Promise<number> {
  await requireCaughtUp(server, ['roll_intents'])
  return readIntent(server)
}

/** A change without a batch touches its days when it begins, and when it is over: until then nobody rolls them up. */
async function replaceHits<T>(
  client: TouchClient,
  { source }: TouchSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  await touchDays(client, { source, number: BEGUN }, days)
  const result = await work()
  await touchDays(client, { source, number: OVER }, days)
  return result
}
