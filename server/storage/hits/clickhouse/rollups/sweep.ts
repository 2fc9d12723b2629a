// Removes the rows of roll-ups that count no more. First they are dropped for good, so that no mark can make them count
// again; their rows go when most questions that may have known them have ended.

import { deleteRolls } from './delete-rolls.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls } from './roll-state.ts'
import { addStep, listOpenRolls, QUESTION_GRACE_MS } from './roll-steps.ts'
import { MARK_TABLES, SUM_TABLES } from './roll-tables.ts'
import type { RollClient } from './store-sums.ts'

const EVERY_MS = 10 * 60_000
/** Each removal rewrites parts of every table, so a few roll-ups wait until they are many, or for hours. */
const ENOUGH_ROLLS = 20
const LONGEST_MS = 6 * 60 * 60_000

export interface SweepTimes {
  everyMs?: number
  graceMs?: number
  longestMs?: number
}

export function createSweeper({
  everyMs = EVERY_MS,
  graceMs = QUESTION_GRACE_MS,
  longestMs = LONGEST_MS,
}: SweepTimes = {}) {
  let dueAt = 0
  return {
    async runWhenDue(client: RollClient): Promise<void> {
      const now = performance.now()
      if (now < dueAt) return
      dueAt = now + everyMs
      await addStep(client, 'dropped', await listUseless(client))
      const ready = (await listDroppedWithRows(client)).filter(({ age }) => age >= graceMs)
      if (ready.length >= ENOUGH_ROLLS || ready.some(({ age }) => age >= longestMs))
        await deleteRolls(
          client,
          ready.map(({ roll }) => roll),
        )
    },
  }
}

/**
 * The roll-ups that have rows and neither count nor are being made. What counts is read last, so a roll-up that ends
 * meanwhile is seen.
 */
async function listUseless(client: RollClient): Promise<number[]> {
  const rows = await client.select(
    `SELECT DISTINCT roll FROM (${ROLLS}) WHERE roll NOT IN (${DROPPED}) AND roll NOT IN (${OF_OTHER_RELEASE})`,
    { params: [RULES] },
  )
  const open = await listOpenRolls(client)
  const valid = await readValidRolls(client.select, RULES)
  const used = new Set([...open.map(({ roll }) => roll), ...valid.days.values(), ...valid.months.values()])
  return rows.map(([roll]) => Number(roll)).filter((roll) => !used.has(roll))
}

const ROLLS = SUM_TABLES.map((table) => `SELECT DISTINCT roll FROM ${table} WHERE roll != 0`).join(
  ' UNION ALL ',
)
const DROPPED = "SELECT roll FROM roll_steps WHERE step = 'dropped'"
const MARKS = `(${MARK_TABLES.map((table) => `SELECT roll, rules, made_at FROM ${table}`).join(' UNION ALL ')})`
const DAY_AGO = 'now64(3) - INTERVAL 1 DAY'
/**
 * The roll-ups of another release's rules rest while its nodes may run, or may soon run again: until this release has
 * marked roll-ups for a day, and the other one has marked none for a day.
 */
const OF_OTHER_RELEASE = `SELECT roll FROM ${MARKS} WHERE rules != {p1:String} AND (
  rules IN (SELECT rules FROM ${MARKS} GROUP BY rules HAVING max(made_at) > ${DAY_AGO})
  OR (SELECT countIf(made_at <= ${DAY_AGO}) FROM ${MARKS} WHERE rules = {p1:String}) = 0)`

/** The roll-ups that are dropped and still have rows: since how many milliseconds, by ClickHouse's clock. */
async function listDroppedWithRows(client: RollClient): Promise<{ roll: number; age: number }[]> {
  const rows = await client.select(
    `SELECT roll, dateDiff('millisecond', min(made_at), now64(3)) FROM roll_steps
     WHERE step = 'dropped' AND roll IN (${ROLLS}) GROUP BY roll`,
  )
  return rows.map(([roll, age]) => ({ roll: Number(roll), age: Number(age) }))
}
