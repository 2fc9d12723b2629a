// Records changes of a day's hits. A roll-up counts while the day has exactly the changes that it had when the roll-up
// was made, so another change invalidates it.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import type { ClickHouseClient } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'

export type TouchClient = Pick<ClickHouseClient, 'select' | 'execute'>
type ChangeClient = Pick<ClickHouseClient, 'select' | 'execute' | 'atOneServer'>

/** The source of a change of hits: a batch of a node, or a deletion, a move, a repair. A node's name has no slash. */
export interface TouchSource {
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
export const createTouchSource = (kind: 'delete' | 'move' | 'repair' | 'roll', job = ''): TouchSource => ({
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
 * The touches of a day as one number. They are random, so other touches are another number: their count would be the same
 * again when touches were lost and others came.
 */
export const TOUCHES = 'groupBitXorDistinct(touch)'

/** The last day that may be rolled up: whoever changes hits of a day up to it has to touch the day. */
export async function readIntent(client: Pick<TouchClient, 'select'>): Promise<number> {
  const [[count, day] = []] = await client.select('SELECT count(), max(day) FROM roll_intents')
  return Number(count) === 0 ? Number.NEGATIVE_INFINITY : Number(day)
}

export interface DayTouches {
  /** See `TOUCHES`; 0 without any. */
  touches: number
  /** A batch that has touched the day is not loaded: its hits can come at any moment. */
  isAwaited: boolean
  /** A deletion or a move of the day has begun and is not over. */
  isChanging: boolean
}

/** Reads the days that have touches. A change that began a day ago is one of a process that was killed. */
export async function readTouches({ select }: Pick<TouchClient, 'select'>): Promise<Map<number, DayTouches>> {
  const rows = await select(
    `SELECT day, groupBitXor(touches), max(awaited), max(changing) FROM (
       SELECT day, source, ${TOUCHES} AS touches, position(source, '/') = 0 AS is_node,
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

/**
 * Adds one touch to each day. A touch has a random number, so that a repeated statement adds it once.
 * @returns the number
 */
export async function touchDays(
  client: TouchClient,
  { source, number }: TouchSource,
  days: readonly number[],
): Promise<number> {
  const touch = createRandomNumber()
  if (days.length === 0) return touch
  const params: SqlValue[] = [[...days], source, number, touch]
  const [list, ...rest] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_touches SETTINGS async_insert = 0
     SELECT arrayJoin(${list}), ${rest.join(', ')}, now64(3)`,
    { params },
  )
  return touch
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
 * before may have become one meanwhile, or the table of touches may have been lost, however long this process was stopped.
 * If neither is so, every roll-up of the day reads the hits later than this.
 */
async function loadHits<T>(
  client: ChangeClient,
  source: TouchSource,
  days: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  if (days.length === 0) return work()
  const before = await readIntent(client)
  const closed = days.filter((day) => day <= before)
  const touch = await touchDays(client, source, closed)
  const result = await work()
  const { after, isTouched } = await client.atOneServer((server) => lookAgain(server, closed, touch), true)
  await touchDays(
    client,
    source,
    days.filter((day) => day <= after && !(isTouched && day <= before)),
  )
  return result
}

/** Another server may have stored an intent that this one lacks. */
async function lookAgain(server: TouchClient, closed: readonly number[], touch: number) {
  await requireCaughtUp(server, ['roll_intents', 'roll_touches'], CATCH_UP_MS)
  const after = await readIntent(server)
  return { after, isTouched: closed.length === 0 || (await hasTouch(server, closed, touch)) }
}

async function hasTouch(server: Pick<TouchClient, 'select'>, days: readonly number[], touch: number) {
  const params: SqlValue[] = [[...days], touch]
  const [list, number] = params.map((value, index) => toPlaceholder(index + 1, value))
  const [[count] = []] = await server.select(
    `SELECT uniqExact(day) FROM roll_touches WHERE day IN ${list} AND touch = ${number}`,
    { params },
  )
  return Number(count) === days.length
}

/** How long a batch waits for its replica before it is left for later. */
const CATCH_UP_MS = 5000

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

/**
 * Ends the earlier attempts of a deletion that has succeeded now, and touches their days. Such a process may have been
 * stopped for hours, until the days were rolled up, then have deleted the hits, and have been killed. The deletion is
 * repeated, and finds no hits.
 */
export async function endEarlierDeletions(client: TouchClient, job: string): Promise<void> {
  const rows = await client.select(
    `SELECT source, groupUniqArray(day) FROM roll_touches WHERE startsWith(source, {p1:String})
     GROUP BY source HAVING max(number) = ${BEGUN}`,
    { params: [toSourcePrefix('delete', job)] },
  )
  for (const [source, days] of rows)
    await touchDays(client, { source: String(source), number: OVER }, (days as unknown[]).map(Number))
}
