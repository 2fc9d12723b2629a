// A budget of bytes that several processes share in PostgreSQL: one statement with the database's clock, and the lock of
// its row. The row has pairs of numbers, a slice of time and the bytes in it: see lib/sliding-budget.ts.

import { sql } from 'kysely'
import { type BudgetResult, decideBudget, SLICES } from '../../../lib/sliding-budget.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { ByteBudget } from './rate-limiter.ts'
import { sortByKey } from './shared-limit.ts'

export interface BudgetCall {
  key: string
  bytes: number
  budget: ByteBudget
}

interface BudgetRow {
  /** The place in the batch, from 1. */
  place: number
  allowed: number
  hits: number[]
  now: number
}

/** @returns the results in the order of the calls; see `ByteLimiter.spend` */
export async function spendSharedBytes(
  { read }: Pick<Database, 'read'>,
  calls: BudgetCall[],
): Promise<BudgetResult[]> {
  const sorted = sortByKey(calls)
  const { rows } = await sql<BudgetRow>`
    select place, spent.* from unnest(
      ${sorted.map(({ key }) => key)}::text[],
      ${sorted.map(({ bytes }) => bytes)}::bigint[],
      ${sorted.map(({ budget }) => budget.bytes)}::bigint[],
      ${sorted.map(({ budget }) => budget.windowMs)}::bigint[]
    ) with ordinality as calls(key, bytes, budget, window_ms, place),
      spend_bytes(key, bytes, budget, window_ms, ${SLICES}) as spent`.execute(read)
  const results = new Map<BudgetCall, BudgetResult>()
  for (const row of rows) {
    const call = sorted[row.place - 1] as BudgetCall
    results.set(call, toResult(row, call))
  }
  return calls.map((call) => results.get(call) as BudgetResult)
}

const toResult = ({ allowed, hits, now }: BudgetRow, { bytes, budget }: BudgetCall): BudgetResult =>
  allowed === 1
    ? { allowed: true, waitMs: 0 }
    : decideBudget(toSpent(hits.map(Number)), {
        now,
        sliceMs: budget.windowMs / SLICES,
        bytes,
        budget: budget.bytes,
      })

function toSpent(numbers: number[]) {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    slice: numbers[2 * i] ?? 0,
    bytes: numbers[2 * i + 1] ?? 0,
  }))
}
