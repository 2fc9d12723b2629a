// A budget of bytes that several processes share in PostgreSQL: one statement with the database's clock, and the lock of
// its row. The row has pairs of numbers, a slice of time and the bytes in it: see lib/sliding-budget.ts.

import { sql } from 'kysely'
import { type BudgetResult, decideBudget, SLICES } from '../../../lib/sliding-budget.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** @param budget see `ByteLimiter.spend` */
export async function spendSharedBytes(
  db: Pick<Database, 'read'>,
  key: string,
  bytes: number,
  budget: { bytes: number; windowMs: number },
): Promise<BudgetResult> {
  const { rows } = await sql<{ allowed: number; hits: number[]; now: number }>`
    select * from spend_bytes(${key}, ${bytes}, ${budget.bytes}, ${budget.windowMs}, ${SLICES})`.execute(
    db.read,
  )
  const row = rows[0]
  if (!row) throw new Error('the budget statement returned no row')
  if (row.allowed === 1) return { allowed: true, waitMs: 0 }
  return decideBudget(toSpent(row.hits.map(Number)), {
    now: row.now,
    sliceMs: budget.windowMs / SLICES,
    bytes,
    budget: budget.bytes,
  })
}

function toSpent(numbers: number[]) {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    slice: numbers[2 * i] ?? 0,
    bytes: numbers[2 * i + 1] ?? 0,
  }))
}
