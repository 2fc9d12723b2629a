// Lists the files and the outcomes of many submissions with few queries, and adds up the won values.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { toDecimalText, toSmallestUnits } from '../../../lib/money/amount.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import { FILE_COLUMNS } from '../uploads/find-file.ts'
import type { SubmissionResource } from './schema.ts'

type LeadOutcome = SubmissionResource['outcomes'][number]

/** A submission has at most 20 files and 100 outcomes. SQLite runs on the event loop: 500 rows take about a millisecond. */
const SUBMISSIONS_AT_ONCE = 25

interface PartsQuery extends Record<string, unknown> {
  workspaceId: number
  ids: number[]
}

// The plus keeps SQLite off the index by workspace, which has the rows of all submissions.
const selectFiles = prepareQuery((connection, { workspaceId, ids }: PartsQuery) =>
  connection
    .selectFrom('submission_files')
    .select(FILE_COLUMNS)
    .select('submission_id')
    .where(isOneOf(connection, 'submission_id', ids))
    .where(sql`+workspace_id`, '=', workspaceId)
    .orderBy('submission_id')
    .orderBy('id'),
)

const selectOutcomes = prepareQuery((connection, { workspaceId, ids }: PartsQuery) =>
  connection
    .selectFrom('outcomes')
    .select(['submission_id', 'stage', 'value', 'currency', 'at'])
    .where(isOneOf(connection, 'submission_id', ids))
    .where(sql`+workspace_id`, '=', workspaceId)
    .orderBy('submission_id')
    .orderBy('at')
    .orderBy('id'),
)

/** @returns of each submission that has some: its files in the order of sending, and its outcomes, oldest first */
export async function listFilesAndOutcomes(
  connection: Connection,
  workspaceId: number,
  submissionIds: number[],
) {
  const files = new Map<number, SubmissionResource['files']>()
  const outcomes = new Map<number, LeadOutcome[]>()
  for (let from = 0; from < submissionIds.length; from += SUBMISSIONS_AT_ONCE) {
    if (from > 0) await takeTurn()
    const query = { workspaceId, ids: submissionIds.slice(from, from + SUBMISSIONS_AT_ONCE) }
    for (const { submission_id, ...file } of await selectFiles(connection, query))
      addTo(files, submission_id, file)
    for (const { submission_id, at, ...row } of await selectOutcomes(connection, query))
      addTo(outcomes, submission_id, { ...row, at: toIso(at) } as LeadOutcome)
  }
  return { files, outcomes }
}

function addTo<Part>(parts: Map<number, Part[]>, submissionId: number, part: Part): void {
  const own = parts.get(submissionId)
  if (own) own.push(part)
  else parts.set(submissionId, [part])
}

/** The value of won outcomes by currency, because amounts of different currencies are never added up. */
export function sumWonValues(outcomes: readonly LeadOutcome[]): { value: string; currency: string }[] {
  const sums = new Map<string, bigint>()
  for (const { stage, value, currency } of outcomes)
    if (stage === 'won' && value !== null && currency !== null)
      sums.set(currency, (sums.get(currency) ?? 0n) + toSmallestUnits(value, currency))
  return [...sums].map(([currency, units]) => ({ value: toDecimalText(units, currency), currency }))
}
