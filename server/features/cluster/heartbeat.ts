// The heartbeat of a node: twice a second it says that it lives and how far its hits are shipped, and looks at the
// others. No request waits for it.

import { sql } from 'kysely'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { DATABASE_CLOCK } from './database-clock.ts'
import { markLeft, type NodeFacts, storeNode } from './node-row.ts'

const BEAT_MS = 500
/** The time that others wait for the hits of a silent node. */
const PRESENT_MS = 60_000
/** Deliveries, limits and attribution compare moments of two nodes. */
const CLOCK_DIFFERENCE_MAX_MS = 1_000
const CLOCK_WARNING_EVERY_MS = 10 * 60_000

export interface HeartbeatNeeds {
  db: Database
  facts: NodeFacts
  now: () => number
  /** Every hit that this node recorded before this moment is in the hit store's answers; 0 while nobody knows. */
  getShippedUntil(): number
  /** Another process has taken over the node. Both would give hits the same ids, so this one must end at once. */
  onReplaced(sentence: string): void
  beatMs?: number
}

export interface Heartbeat {
  countOthers(): number
  getOthersShippedUntil(): number
  close(): Promise<void>
}

interface Others {
  count: number
  shippedUntil: number
}

interface HeartbeatState {
  readonly needs: HeartbeatNeeds
  others: Others
  timer: Timer | undefined
  beating: Promise<void> | undefined
  /** The last heartbeat failed, and the log says so. */
  degraded: boolean
  /** Logs that the others count hits separately, which this node does not see. */
  divided: boolean
  /** On the monotonic clock. */
  warnedOfClockAt: number
  closed: boolean
}

/** Before the first look at the others, nothing of theirs counts as shipped. */
export function openHeartbeat(needs: HeartbeatNeeds): Heartbeat {
  const state: HeartbeatState = {
    needs,
    others: { count: 0, shippedUntil: 0 },
    timer: undefined,
    beating: undefined,
    degraded: false,
    divided: false,
    warnedOfClockAt: Number.NEGATIVE_INFINITY,
    closed: false,
  }
  scheduleBeat(state, 0)
  return {
    countOthers: () => state.others.count,
    getOthersShippedUntil: () => state.others.shippedUntil,
    async close() {
      state.closed = true
      clearTimeout(state.timer)
      await state.beating
      await leave(state)
    },
  }
}

function scheduleBeat(state: HeartbeatState, inMs: number) {
  if (state.closed) return
  state.timer = setTimeout(() => {
    state.beating = beat(state).finally(() => scheduleBeat(state, state.needs.beatMs ?? BEAT_MS))
  }, inMs)
}

/** Never throws: while the database is away, the last known state holds. */
async function beat(state: HeartbeatState): Promise<void> {
  const { now } = state.needs
  const before = now()
  try {
    const seen = await writeBeat(state.needs)
    if (seen.at === null) {
      state.closed = await isReplaced(state.needs)
      return
    }
    // A node that joins later records its hits later.
    state.others = { count: seen.count, shippedUntil: Math.min(seen.shippedUntil ?? before, before) }
    if (state.degraded) log.info('heartbeat_goes_on')
    state.degraded = false
    reportDivided(state)
    reportClock(state, seen.at, before, now())
  } catch (error) {
    if (!state.degraded) log.warn('heartbeat_waits', describeError(error))
    state.degraded = true
  }
}

interface Beat {
  /** The database's clock; null when the node's row belongs to another process. */
  at: number | null
  count: number
  shippedUntil: number | null
}

/**
 * One statement without BEGIN and COMMIT around it, which would take most of the processor time of an idle node. Its
 * commit is not synced: nobody waits for it, and the next one comes at once. A heartbeat that is lost with PostgreSQL
 * only makes the others wait for longer.
 */
async function writeBeat({ db, facts, getShippedUntil }: HeartbeatNeeds): Promise<Beat> {
  const { rows } = await sql<Beat>`with beat as (
      update nodes set seen_at = ${DATABASE_CLOCK},
        shipped_until = greatest(shipped_until, ${getShippedUntil()}::bigint)
      where node = ${facts.node} and process = ${facts.process}
      returning seen_at
    )
    select (select seen_at from beat) as at, count(*) as count, min(shipped_until) as "shippedUntil",
      set_config('synchronous_commit', 'off', true)
    from nodes
    where node <> ${facts.node} and left_at is null
      and seen_at > ${DATABASE_CLOCK} - ${PRESENT_MS}::bigint`.execute(db.read)
  return rows[0] as Beat
}

/** The row has gone when the database was away for a month, and then comes back. Or it is of another process. */
async function isReplaced({ db, facts, now, onReplaced }: HeartbeatNeeds): Promise<boolean> {
  const row = await db.write(async (connection) => {
    const found = await connection
      .selectFrom('nodes')
      .select('process')
      .where('node', '=', facts.node)
      .executeTakeFirst()
    if (!found) await storeNode(connection, { ...facts, isEmpty: false }, now())
    return found
  })
  if (row === undefined || row.process === facts.process) return false
  onReplaced(
    `Another server runs with the id of this one (node ${facts.node}): its DATA_DIR is a copy, and it started while ` +
      'this server did not reach the database. Stop it, give it an empty DATA_DIR, and start this server again.',
  )
  return true
}

/** The start refuses such a node. But one that did not reach the database for a while returns unasked. */
function reportDivided(state: HeartbeatState) {
  const isDivided = state.needs.facts.hitStore === 'duckdb' && state.others.count > 0
  if (isDivided && !state.divided)
    log.error('another_server_without_clickhouse', { others: state.others.count })
  state.divided = isDivided
}

/** The database read its clock between two moments of ours. */
function reportClock(state: HeartbeatState, at: number, before: number, after: number) {
  const differenceMs = Math.max(before - at, at - after)
  if (differenceMs < CLOCK_DIFFERENCE_MAX_MS) return
  if (performance.now() - state.warnedOfClockAt < CLOCK_WARNING_EVERY_MS) return
  state.warnedOfClockAt = performance.now()
  log.warn('clock_differs_from_the_database', { differenceMs })
}

/** The database may be away when the process ends. The others then wait for this node as for one that was killed. */
async function leave({ needs }: HeartbeatState): Promise<void> {
  const { db, facts, now, getShippedUntil } = needs
  const at = now()
  const everythingShipped = getShippedUntil() >= at
  await db
    .write((connection) => markLeft(connection, facts, everythingShipped))
    .catch((error) => log.warn('node_not_left', describeError(error)))
}
