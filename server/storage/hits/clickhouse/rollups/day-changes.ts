// Records changes of a day's hits. A roll-up counts while the day has exactly the changes that it had when the roll-up
// was made, so another change invalidates it.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import type { ClickHouseClient } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'

export type DayChangeClient = Pick<ClickHouseClient, 'select' | 'execute'>
type ChangeClient = Pick<ClickHouseClient, 'select' | 'execute' | 'atOneServer'>

/** The source of a change of hits: a batch of a node, or a deletion, a move, a repair. A node's name has no slash. */
export interface ChangeSource {
  source: string
  /**
   * For a node: the day is rolled up only when the node's batches up to this number are loaded.
   * For anything else: whether the change begins (`BEGUN`) or is over (`OVER`).
   */
  number: number
}

const BEGUN = 0
const OVER = 1

/**
 * @param job of a deletion: what is the same when it is repeated
 * @returns a source that is no node: no batch says when its change is over
 */
export const createChangeSource = (kind: 'delete' | 'move' | 'repair' | 'roll', job = ''): ChangeSource => ({
  source: `${toSourcePrefix(kind, job)}${crypto.randomUUID()}`,
  number: OVER,
})

const toSourcePrefix = (kind: string, job: string) => (job === '' ? `${kind}/` : `${kind}/${job}/`)

const isNode = (source: string) => !source.includes('/')

/** A whole number that JavaScript and ClickHouse both hold exactly. It is never 0. */
export function createRandomNumber(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return (high >>> 11) * 2 ** 32 + low || 1
}

/**
 * The changes of a day as one number. They are random, so other changes are another number: their count would be the same
 * again when changes were lost and others came.
 */
export const DAY_CHANGES = 'groupBitXorDistinct(touch)'

/** The last day that may be rolled up: a change of hits up to that day has to be recorded. */
export async function readIntent(client: Pick<DayChangeClient, 'select'>): Promise<number> {
  const [[count, day] = []] = await client.select('SELECT count(), max(day) FROM roll_intents')
  return Number(count) === 0 ? Number.NEGATIVE_INFINITY : Number(day)
}

export interface DayChanges {
  /** See `DAY_CHANGES`; 0 without any. */
  changes: number
  /** A batch with a recorded change of the day is not loaded: its hits can come at any moment. */
  isAwaited: boolean
  /** A deletion or a move of the day has begun and is not over. */
  isChanging: boolean
}

/** Reads the days that have changes. A change that began a day ago is one of a process that was killed. */
export async function readDayChanges({
  select,
}: Pick<DayChangeClient, 'select'>): Promise<Map<number, DayChanges>> {
  const rows = await select(
    `SELECT day, groupBitXor(touches), max(awaited), max(changing) FROM (
       SELECT day, source, ${DAY_CHANGES} AS touches, position(source, '/') = 0 AS is_node,
         is_node AND max(number) > ifNull(any(loaded), 0) AS awaited,
         NOT is_node AND max(number) = ${BEGUN} AND max(touched_at) > now64(3) - INTERVAL 1 DAY AS changing
       FROM roll_touches
       LEFT JOIN (SELECT node, max(batch) AS loaded FROM hit_marks GROUP BY node) AS marks ON source = node
       GROUP BY day, source
     ) GROUP BY day`,
  )
  return new Map(
    rows.map(([day, changes, awaited, changing]) => [
      Number(day),
      { changes: Number(changes), isAwaited: Number(awaited) === 1, isChanging: Number(changing) === 1 },
    ]),
  )
}

/**
 * Adds one change to each day. A change has a random number, so that a repeated statement adds it once.
 * @returns the number
 */
export async function recordDayChanges(
  client: DayChangeClient,
  { source, number }: ChangeSource,
  days: readonly number[],
): Promise<number> {
  const change = createRandomNumber()
  if (days.length === 0) return change
  const params: SqlValue[] = [[...days], source, number, change]
  const [list, ...rest] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_touches SETTINGS async_insert = 0
     SELECT arrayJoin(${list}), ${rest.join(', ')}, now64(3)`,
    { params },
  )
  return change
}

/**
 * Runs work that changes hits of these days, and records it, so that no roll-up counts while the hits change, and
 * none is made.
 */
export const changeHits = <T>(
  client: ChangeClient,
  source: ChangeSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> =>
  isNode(source.source) ? loadHits(client, source, days, work) : replaceHits(client, source, days, work)

/**
 * A batch records changes of the days that may be rolled up, and looks again after its work: a day outside of roll-ups
 * before may have become one meanwhile, or the table of changes may have been lost, however long this process was
 * stopped. If neither is so, every roll-up of the day reads the hits later than this.
 */
async function loadHits<T>(
  client: ChangeClient,
  source: ChangeSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  if (days.length === 0) return work()
  const before = await readIntent(client)
  const closed = days.filter((day) => day <= before)
  const change = await recordDayChanges(client, source, closed)
  const result = await work()
  const { after, isRecorded } = await client.atOneServer((server) => lookAgain(server, closed, change), true)
  await recordDayChanges(
    client,
    source,
    days.filter((day) => day <= after && !(isRecorded && day <= before)),
  )
  return result
}

/** Another server may have stored an intent that this one lacks. */
async function lookAgain(server: DayChangeClient, closed: readonly number[], change: number) {
  await requireCaughtUp(server, ['roll_intents', 'roll_touches'], CATCH_UP_MS)
  const after = await readIntent(server)
  return { after, isRecorded: closed.length === 0 || (await hasChange(server, closed, change)) }
}

async function hasChange(server: Pick<DayChangeClient, 'select'>, days: readonly number[], change: number) {
  const params: SqlValue[] = [[...days], change]
  const [list, number] = params.map((value, index) => toPlaceholder(index + 1, value))
  const [[count] = []] = await server.select(
    `SELECT uniqExact(day) FROM roll_touches WHERE day IN ${list} AND touch = ${number}`,
    { params },
  )
  return Number(count) === days.length
}

/** How long a batch waits for its replica before it is left for later. */
const CATCH_UP_MS = 5000

/** A change without a batch is recorded when it begins, and when it is over: until then nobody rolls its days up. */
async function replaceHits<T>(
  client: DayChangeClient,
  { source }: ChangeSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  await recordDayChanges(client, { source, number: BEGUN }, days)
  const result = await work()
  await recordDayChanges(client, { source, number: OVER }, days)
  return result
}

/**
 * Ends the earlier attempts of a deletion that has succeeded now, and records changes of their days. Such a process may
 * have been stopped for hours, until the days were rolled up, then have deleted the hits, and have been killed. The
 * deletion is
 * repeated, and finds no hits.
 */
export async function endEarlierDeletions(client: DayChangeClient, job: string): Promise<void> {
  const rows = await client.select(
    `SELECT source, groupUniqArray(day) FROM roll_touches WHERE startsWith(source, {p1:String})
     GROUP BY source HAVING max(number) = ${BEGUN}`,
    { params: [toSourcePrefix('delete', job)] },
  )
  for (const [source, days] of rows)
    await recordDayChanges(client, { source: String(source), number: OVER }, (days as unknown[]).map(Number))
}
