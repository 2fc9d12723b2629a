// Counts qualified and won leads, and adds up what the won ones brought, in one currency. The rows are added up here and not
// in the database, because no sum of SQLite is exact for every amount, and each model splits an amount without a remainder.

import { sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../lib/concurrency/take-turn.ts'
import { splitAmount, toDecimalText, toSmallestUnits } from '../../lib/money/amount.ts'
import type { Database } from '../../storage/database/database.ts'
import { queryRaw } from '../../storage/database/raw-query.ts'
import { toNullLabel } from '../../storage/filter-grammar.ts'
import { isOriginDimension } from '../../storage/sources/origin-sql.ts'
import { PARTS_PER_LEAD } from './attribution-model.ts'
import { type LeadGrouping, type LeadSelection, toCountedSql, toGroupKey } from './count-leads.ts'
import {
  ORIGIN_ROW_COLUMNS,
  type OriginRow,
  passesOriginFilters,
  splitOriginFilters,
  toOrigin,
} from './lead-origins.ts'
import type { AnswerMoney } from './leads-schema.ts'

export type GroupKey = string | number | null

/** The outcomes of the leads of one group. */
export interface OutcomeCounts {
  qualified: number
  won: number
  /** Decimal text in the currency of the answer; null where no outcome of the range has a currency. */
  value: string | null
}

export interface OutcomeAnswer {
  /** For the answer. Its currencies are those of all won outcomes in the range, by use. */
  money: AnswerMoney
  get(key: GroupKey): OutcomeCounts
  /** The counts of a group without outcomes. */
  none: OutcomeCounts
  /** The groups with outcomes, in no order. */
  keys(): GroupKey[]
}

interface Group {
  qualified: number
  won: number
  /** Smallest units, by currency. */
  values: Map<string, bigint>
}

/**
 * Counts the outcomes whose `at` is in the range. A lead counts once as qualified and once as won, with its first outcome
 * of the range; the values of all its won outcomes count.
 * @param asked the currency of the answer; null: the one that most won outcomes of the workspace in the range have
 */
export async function countOutcomes(
  db: Database,
  selection: LeadSelection,
  grouping: LeadGrouping,
  asked: string | null,
): Promise<OutcomeAnswer> {
  const groups = new Map<GroupKey, Group>()
  const uses = new Map<string, number>()
  const seen = new Set<number>()
  for await (const step of listOutcomes(db, selection)) {
    const outcomes = new Map(step.map((row) => [row.id, toOutcome(row, seen)]))
    for (const { value } of outcomes.values())
      if (value) uses.set(value.currency, (uses.get(value.currency) ?? 0) + 1)
    for (const part of await readParts(db, selection, grouping, [...outcomes.keys()])) {
      const outcome = outcomes.get(part.id)
      if (outcome) add(groups, toKey(grouping, part, outcome), outcome, part)
    }
  }
  const currencies = [...uses].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([code]) => code)
  const currency = asked ?? currencies[0] ?? null
  return {
    money:
      currency === null ? {} : { currency, otherCurrencies: currencies.filter((code) => code !== currency) },
    get: (key) => toCounts(groups.get(key), currency),
    none: toCounts(undefined, currency),
    keys: () => [...groups.keys()],
  }
}

interface StoredOutcome {
  id: number
  submission_id: number
  stage: string
  value: string | null
  currency: string | null
  at: number
  /** Of the lead's fields. Its other columns lie behind them. */
  bytes: number | null
}

const ROWS_AT_ONCE = { sqlite: 500, postgres: 5_000 }
const BYTES_AT_ONCE = 256 * 1024

/** The qualified and won outcomes of the range by time, some hundreds a turn, and less where their leads are large. */
async function* listOutcomes(
  { engine, read }: Database,
  { workspaceId, start, end }: LeadSelection,
): AsyncGenerator<StoredOutcome[]> {
  const limit = ROWS_AT_ONCE[engine]
  for (let after = { at: start, id: 0 }; ; ) {
    const rows = await read
      .selectFrom('outcomes')
      .select(['id', 'submission_id', 'stage', 'value', 'currency', 'at'])
      .select((e) =>
        e
          .selectFrom('submissions')
          .select(sql<number>`octet_length(fields)`.as('bytes'))
          .whereRef('submissions.id', '=', 'outcomes.submission_id')
          .as('bytes'),
      )
      .where('workspace_id', '=', workspaceId)
      .where('at', '<', end)
      .where((e) => e(e.refTuple('at', 'id'), '>', e.tuple(after.at, after.id)))
      .where('stage', 'in', ['qualified', 'won'])
      .orderBy('at')
      .orderBy('id')
      .limit(limit)
      .execute()
    const last = rows.at(-1)
    const sized = rows.map((row) => ({ ...row, bytes: row.bytes ?? 0 }))
    for (const step of engine === 'sqlite' ? cutIntoSteps(sized, BYTES_AT_ONCE) : [rows]) {
      if (step.length > 0) yield step
      await takeTurn()
    }
    if (!last || rows.length < limit) return
    after = last
  }
}

interface Outcome {
  at: number
  stage: 'qualified' | 'won'
  /** Whether this is the first outcome of its kind for the lead in the range. */
  isFirst: boolean
  value: { units: bigint; currency: string } | undefined
}

function toOutcome({ at, stage, submission_id, value, currency }: StoredOutcome, seen: Set<number>): Outcome {
  const isWon = stage === 'won'
  const lead = submission_id * 2 + Number(isWon)
  const isFirst = !seen.has(lead)
  seen.add(lead)
  const hasValue = isWon && value !== null && currency !== null
  return {
    at,
    stage: isWon ? 'won' : 'qualified',
    isFirst,
    value: hasValue ? { units: toSmallestUnits(value, currency), currency } : undefined,
  }
}

/** The part that a touch has of an outcome, in one group. */
interface OutcomePart extends OriginRow {
  id: number
  key: GroupKey
  part: number
  position: number
  touches: number
}

/** The parts that pass the filters. */
async function readParts(
  db: Database,
  selection: LeadSelection,
  grouping: LeadGrouping,
  ids: number[],
): Promise<OutcomePart[]> {
  const { stored, origins } = splitOriginFilters(selection.filters)
  const columns = `outcome_id, position, touches, ${ORIGIN_ROW_COLUMNS}`
  const rows = await queryRaw<OutcomePart & { outcome_id: number }>(db, (dialect, bind) => {
    const ofStored = { ...selection, filters: stored }
    const { counted } = toCountedSql(ofStored, toStoredGrouping(grouping), dialect, bind, columns, ids)
    return `${counted} SELECT * FROM counted`
  })
  return rows
    .filter((row) => passesOriginFilters(row, origins))
    .map((row) => ({ ...row, id: Number(row.outcome_id), key: toGroupKey(row.key, grouping) }))
}

/** Buckets of time, sources and channels are found here. */
const toStoredGrouping = (grouping: LeadGrouping): LeadGrouping =>
  grouping.by === 'time' || isOriginDimension(grouping.by) ? { by: 'total' } : grouping

function toKey(grouping: LeadGrouping, part: OutcomePart, { at }: Outcome): GroupKey {
  if (grouping.by === 'time') return findBucket(grouping.starts, at)
  if (!isOriginDimension(grouping.by)) return part.key
  return toOrigin(part, grouping.by) ?? toNullLabel(grouping.by)
}

/** The last of the sorted starts that is not after the time. */
function findBucket(starts: number[], at: number): number | null {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return starts[low - 1] ?? null
}

function add(groups: Map<GroupKey, Group>, key: GroupKey, outcome: Outcome, part: OutcomePart): void {
  const group = groups.get(key) ?? { qualified: 0, won: 0, values: new Map() }
  groups.set(key, group)
  if (outcome.isFirst) group[outcome.stage] += Number(part.part)
  if (!outcome.value) return
  const { units, currency } = outcome.value
  // In the models `first` and `last`, one touch gets all the credit, independent of its position.
  const isWhole = Number(part.part) === PARTS_PER_LEAD
  const share = isWhole ? units : splitAmount(units, part.position, part.touches)
  group.values.set(currency, (group.values.get(currency) ?? 0n) + share)
}

function toCounts(group: Group | undefined, currency: string | null): OutcomeCounts {
  return {
    qualified: (group?.qualified ?? 0) / PARTS_PER_LEAD,
    won: (group?.won ?? 0) / PARTS_PER_LEAD,
    value: currency === null ? null : toDecimalText(group?.values.get(currency) ?? 0n, currency),
  }
}
