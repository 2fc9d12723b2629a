// Lists the outcomes of many submissions with few queries, and adds up the won values.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { toDecimalText, toSmallestUnits } from '../../../lib/money/amount.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { SubmissionResource } from './schema.ts'

type LeadOutcome = SubmissionResource['outcomes'][number]

/** A lead has at most 100 outcomes, and SQLite runs on the event loop. */
const SUBMISSIONS_AT_ONCE = 25

const selectOutcomesOfLeads = prepareQuery(
  (connection, { workspaceId, ids }: { workspaceId: number; ids: number[] } & Record<string, unknown>) =>
    connection
      .selectFrom('outcomes')
      .select(['submission_id', 'stage', 'value', 'currency', 'at'])
      .where(isOneOf(connection, 'submission_id', ids))
      // The plus keeps SQLite off the index by workspace, which has the outcomes of all submissions.
      .where(sql`+workspace_id`, '=', workspaceId)
      .orderBy('submission_id')
      .orderBy('at')
      .orderBy('id'),
)

/** @returns the outcomes of each submission that has some, oldest first */
export async function listOutcomesOfSubmissions(
  connection: Connection,
  workspaceId: number,
  submissionIds: number[],
): Promise<Map<number, LeadOutcome[]>> {
  const outcomes = new Map<number, LeadOutcome[]>()
  for (let from = 0; from < submissionIds.length; from += SUBMISSIONS_AT_ONCE) {
    if (from > 0) await takeTurn()
    const ids = submissionIds.slice(from, from + SUBMISSIONS_AT_ONCE)
    for (const { submission_id, at, ...row } of await selectOutcomesOfLeads(connection, {
      workspaceId,
      ids,
    })) {
      const outcome = { ...row, at: toIso(at) } as LeadOutcome
      const own = outcomes.get(submission_id)
      if (own) own.push(outcome)
      else outcomes.set(submission_id, [outcome])
    }
  }
  return outcomes
}

/** The value of won outcomes by currency, because amounts of different currencies are never added up. */
export function sumWonValues(outcomes: readonly LeadOutcome[]): { value: string; currency: string }[] {
  const sums = new Map<string, bigint>()
  for (const { stage, value, currency } of outcomes)
    if (stage === 'won' && value !== null && currency !== null)
      sums.set(currency, (sums.get(currency) ?? 0n) + toSmallestUnits(value, currency))
  return [...sums].map(([currency, units]) => ({ value: toDecimalText(units, currency), currency }))
}
