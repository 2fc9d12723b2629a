// A budget of bytes that several processes share in PostgreSQL: one statement with the database's clock, and the lock of
// its row. The row has pairs of numbers, a slice of time and the bytes in it: see lib/sliding-budget.ts.

import { sql } from 'kysely'
import { type BudgetResult, decideBudget, SLICES } from '../../../lib/sliding-budget.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { askByKey } from './shared-limit.ts'

export interface ByteBudget {
  bytes: number
  /** Always the same for one key. */
  windowMs: number
}

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

/**
 * Calls of one key are spent as one sum, and one by one where the sum is too much.
 * @returns the results in the order of the calls; see `ByteLimiter.spend`
 */
export async function spendSharedBytes(reader: Reader, calls: BudgetCall[]): Promise<BudgetResult[]> {
  const groups = [...Map.groupBy(calls, ({ key, budget }) => `${budget.bytes} ${key}`).values()]
  const sums = groups.map(([first, ...others]) => {
    const { key, bytes, budget } = first as BudgetCall
    return { key, bytes: others.reduce((sum, other) => sum + other.bytes, bytes), budget }
  })
  const results = new Map<BudgetCall, BudgetResult>()
  const refused: BudgetCall[] = []
  for (const [n, result] of (await spendEach(reader, sums)).entries()) {
    const group = groups[n] ?? []
    if (!result.allowed && group.length > 1) refused.push(...group)
    else for (const call of group) results.set(call, result)
  }
  if (refused.length > 0)
    for (const [n, result] of (await spendEach(reader, refused)).entries())
      results.set(refused[n] as BudgetCall, result)
  return calls.map((call) => results.get(call) as BudgetResult)
}

type Reader = Pick<Database, 'read'>

const spendEach = ({ read }: Reader, calls: BudgetCall[]): Promise<BudgetResult[]> =>
  askByKey(calls, toResult, async (sorted) => {
    const { rows } = await sql<BudgetRow>`
      select place, spent.* from unnest(
        ${sorted.map(({ key }) => key)}::text[],
        ${sorted.map(({ bytes }) => bytes)}::bigint[],
        ${sorted.map(({ budget }) => budget.bytes)}::bigint[],
        ${sorted.map(({ budget }) => budget.windowMs)}::bigint[]
      ) with ordinality as calls(key, bytes, budget, window_ms, place),
        spend_bytes(key, bytes, budget, window_ms, ${SLICES}) as spent`.execute(read)
    return rows
  })

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
