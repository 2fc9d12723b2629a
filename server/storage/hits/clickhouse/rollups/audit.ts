// Finds damage: a roll-up that has lost rows, or whose days have another number of clicks than their hits. Its days are
// marked as changed, so that it counts no more and they are rolled up again.

import { describeError, log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { ROLLED_HITS } from '../../rollups/roll-sql.ts'
import { toMonth, toNextMonth } from '../../rollups/rollup.ts'
import { isOfServer } from '../clickhouse-error.ts'
import { toPlaceholder } from '../parameters.ts'
import { createChangeSource, recordDayChanges } from './day-changes.ts'
import type { RollSpan } from './day-snapshot.ts'
import { isUnreadable } from './find-unreadable.ts'
import { readNotes, repairRollUps } from './repair.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls, type ValidRolls } from './roll-state.ts'
import { addStep, QUESTION_GRACE_MS } from './roll-steps.ts'
import { MARK_TABLES, SUM_TABLES } from './roll-tables.ts'
import type { RollClient } from './store-sums.ts'

const EVERY_MS = 60 * 60_000
/** A call goes on with the next month while it has not taken longer. */
const CALL_MS = 10_000
const MONTH_CALL = { settings: { max_threads: 2, max_execution_time: 300 }, timeoutMs: 310_000 }

interface AuditTimes {
  /**
   * How long after the first look at another number of clicks a second one must find it, too: longer than an erasure waits
   * between the deletion of hits and that of their sums.
   */
  confirmMs?: number
  /** How long damaged data stay after their roll-ups have stopped to count. */
  graceMs?: number
  everyMs?: number
}

interface AuditState extends Required<AuditTimes> {
  /** On the monotonic clock: when to ask whether the next audit is due, and when the next repair may begin. */
  dueAt: number
  repairAt: number
  /** Something could not be read. */
  isDoubtful: boolean
  /** The months that are left to be compared. */
  months: number[]
  /** Days that have had another number of clicks, and from when on they are compared again. */
  suspects: Set<number>
  confirmAt: number
}

/** Looks every hour, whichever process does so, and after something could not be read. */
export function createAudit({
  confirmMs = 0,
  graceMs = QUESTION_GRACE_MS,
  everyMs = EVERY_MS,
}: AuditTimes = {}) {
  const state: AuditState = {
    ...{ confirmMs, graceMs, everyMs },
    ...{ dueAt: 0, repairAt: 0, confirmAt: 0 },
    isDoubtful: false,
    months: [],
    suspects: new Set(),
  }
  const noteTrouble = () => {
    state.isDoubtful = true
  }
  return {
    /** Somebody could not read the roll-ups: look soon. */
    noteTrouble,
    async runWhenDue(client: RollClient): Promise<void> {
      if (performance.now() >= state.dueAt) await beginWhenDue(state, client)
      if (state.isDoubtful && performance.now() >= state.repairAt) await repair(state, client)
      await compareMonths(state, client)
      if (state.suspects.size > 0 && state.months.length === 0 && performance.now() >= state.confirmAt) {
        await tryToCompare('suspects', () => confirmSuspects(client, [...state.suspects]))
        state.suspects.clear()
      }
    },
    /** Whether months or days are left to be compared. */
    isComparing: () => state.months.length > 0 || state.suspects.size > 0,
    /** Runs what reads roll-ups, and looks soon when it could not. */
    async watch<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        if (isUnreadable(error)) noteTrouble()
        throw error
      }
    },
  }
}

async function beginWhenDue(state: AuditState, client: RollClient): Promise<void> {
  const age = await readAuditAge(client)
  if (age < state.everyMs) state.dueAt = performance.now() + state.everyMs - age
  else await begin(state, client)
  // The process that has found damaged parts may have ended before it could remove them.
  if ((await readNotes(client)).size > 0) state.isDoubtful = true
}

async function begin(state: AuditState, client: RollClient): Promise<void> {
  state.dueAt = performance.now() + state.everyMs
  const { days } = await readValidRolls(client.select, RULES)
  if (days.size === 0) return
  await addStep(client, 'audited', [ALL_ROLLS])
  state.months = [...new Set([...days.keys()].map(toMonth))]
}

/** Repairs at the first trouble, and then every hour at most: what is in doubt is answered from hits. */
async function repair(state: AuditState, client: RollClient): Promise<void> {
  state.repairAt = performance.now() + state.everyMs
  if (await repairRollUps(client, state.graceMs)) {
    state.isDoubtful = false
    await begin(state, client)
  } else state.repairAt = performance.now() + state.graceMs
}

/** Compares months for some seconds. The next call goes on. */
async function compareMonths(state: AuditState, client: RollClient): Promise<void> {
  const until = performance.now() + CALL_MS
  while (performance.now() < until) {
    const [month, ...later] = state.months
    if (month === undefined) return
    const days = await tryToCompare(month, () => compareMonth(client, month))
    state.months = later
    // A failure may have taken minutes, so days are rolled up before the next month is compared.
    if (!days) return
    for (const day of days) state.suspects.add(day)
    if (state.suspects.size > 0) state.confirmAt = performance.now() + state.confirmMs
  }
}

/**
 * @returns undefined after a failure, which is logged: the next comparison is an hour later
 * @throws what stops every other statement, and what has to be repaired first
 */
async function tryToCompare<T>(month: number | 'suspects', work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isOfServer(error) || isUnreadable(error)) throw error
    const start = month === 'suspects' ? month : new Date(month * DAY_MS).toISOString()
    log.error('hits.roll_ups_not_compared', { start, ...describeError(error) })
    return undefined
  }
}

/** A step of no roll-up has this number. */
const ALL_ROLLS = 0

/** @returns how many milliseconds ago any process has begun to look. A moment in the future is one of a wrong clock. */
async function readAuditAge(client: RollClient): Promise<number> {
  const [[count, age] = []] = await client.select(
    `SELECT count(), dateDiff('millisecond', max(made_at), now64(3)) FROM roll_steps
     WHERE roll = ${ALL_ROLLS} AND step = 'audited' AND made_at <= now64(3)`,
  )
  return Number(count) === 0 ? Number.POSITIVE_INFINITY : Number(age)
}

/** Records a change for days that have lost rows. @returns the days that have another number of clicks than their hits */
async function compareMonth(client: RollClient, month: number): Promise<number[]> {
  const span = { start: month, end: toNextMonth(month) }
  const valid = await readValidRolls(client.select, RULES, span)
  if (valid.days.size === 0) return []
  const wrong = await listWrongRowCounts(client, span, valid)
  const days = [...valid.days].filter(([, roll]) => wrong.has(roll)).map(([day]) => day)
  await recordDamagedDays(client, days)
  await addStep(
    client,
    'dropped',
    [...valid.months.values()].filter((roll) => wrong.has(roll)),
  )
  return listWrongSums(client, span, valid.days)
}

async function recordDamagedDays(client: RollClient, days: readonly number[]): Promise<void> {
  if (days.length > 0) log.warn('hits.roll_ups_damaged', { days: days.length })
  await recordDayChanges(client, createChangeSource('repair'), days)
}

/** Records a change for those of the days that still have another number of clicks. */
async function confirmSuspects(client: RollClient, suspects: readonly number[]): Promise<void> {
  for (const month of new Set(suspects.map(toMonth))) {
    const span = { start: month, end: toNextMonth(month) }
    const { days } = await readValidRolls(client.select, RULES, span)
    const wrong = days.size > 0 ? await listWrongSums(client, span, days) : []
    await recordDamagedDays(
      client,
      wrong.filter((day) => suspects.includes(day)),
    )
  }
}

/**
 * The roll-ups that have other rows than their mark says. The rows of an erased workspace are not counted: they are there
 * until the erasure has ended. What was erased is.
 */
async function listWrongRowCounts(
  client: RollClient,
  span: RollSpan,
  { days, months }: ValidRolls,
): Promise<Set<number>> {
  const rolls = [...new Set([...days.values(), ...months.values()])]
  const isAsked = `roll IN ${toPlaceholder(1, rolls)}`
  const isErased = `step = 'erased' AND ${isAsked}`
  const counts = [
    ...SUM_TABLES.map(
      (table) =>
        `SELECT roll, toInt64(countIf((roll, workspace_id) NOT IN (SELECT roll, workspace_id FROM roll_steps WHERE ${isErased}))) AS part
         FROM ${table} WHERE day >= ${span.start} AND day < ${span.end} AND ${isAsked} GROUP BY roll`,
    ),
    ...MARK_TABLES.map(
      (table) => `SELECT roll, -any(rows) AS part FROM ${table} WHERE ${isAsked} GROUP BY roll`,
    ),
    `SELECT roll, toInt64(sum(erased)) AS part
     FROM (SELECT roll, max(rows) AS erased FROM roll_steps WHERE ${isErased} GROUP BY roll, workspace_id) GROUP BY roll`,
  ]
  const wrong = await client.select(
    `SELECT roll FROM (${counts.join(' UNION ALL ')}) GROUP BY roll HAVING sum(part) != 0`,
    { ...MONTH_CALL, params: [rolls] },
  )
  return new Set(wrong.map(([roll]) => Number(roll)))
}

/** The days that have another number of clicks in their roll-up than in their hits. None while hits or sums are deleted. */
async function listWrongSums(
  client: RollClient,
  { start, end }: RollSpan,
  days: ReadonlyMap<number, number>,
): Promise<number[]> {
  const rolls = [...new Set(days.values())]
  const sums = await client.select(
    `SELECT day, sum(clicks) + sum(landings) FROM roll_days
     WHERE day >= {p1:Int64} AND day < {p2:Int64} AND roll IN ${toPlaceholder(3, rolls)} GROUP BY day`,
    { ...MONTH_CALL, params: [start, end, rolls] },
  )
  const hits = await client.select(
    `SELECT intDiv(recorded_at, ${DAY_MS}) AS day, count() FROM hits
     WHERE recorded_at >= {p1:Int64} AND recorded_at < {p2:Int64} AND ${ROLLED_HITS} GROUP BY day`,
    { ...MONTH_CALL, params: [start * DAY_MS, end * DAY_MS] },
  )
  const [[deletions] = []] = await client.select(
    `SELECT count() FROM system.mutations
     WHERE database = currentDatabase() AND table IN ('hits', 'roll_days') AND NOT is_done`,
  )
  if (Number(deletions) > 0) return []
  const rolled = new Map(sums.map(([day, sum]) => [Number(day), Number(sum)]))
  const stored = new Map(hits.map(([day, count]) => [Number(day), Number(count)]))
  return [...days.keys()].filter((day) => (rolled.get(day) ?? 0) !== (stored.get(day) ?? 0))
}
