// Finds the submissions of one email address in all forms of a workspace: those with the address in the field
// `email`, and those with it as the whole value of another field.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { readSubmissions, type SizedPosition, scanSubmissions } from '../submissions/scan-submissions.ts'
import { parseStoredFields, type SubmissionNeeds, type SubmissionRow } from '../submissions/submission.ts'

export const selectOfAddress = (connection: Connection, workspaceId: number, email: string) =>
  connection
    .selectFrom('submissions')
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
    // The partial index has this condition, so a query must repeat it to use the index.
    .where('email', 'is not', null)

/**
 * Yields whole submissions, some kilobytes a turn. No index knows the values of fields, so it looks at every submission of
 * the workspace.
 */
export async function* scanPerson(
  needs: SubmissionNeeds,
  actor: Actor,
  email: string,
  signal?: AbortSignal,
): AsyncGenerator<SubmissionRow[]> {
  const scope = { needs, actor, by: { search: email } }
  for await (const step of scanAddress(needs, actor, email, signal)) yield* readSteps(scope, step)
  for await (const step of scanSubmissions(scope, 'asc', signal ? { signal } : {})) {
    for await (const rows of readSteps(scope, step)) {
      const own = rows.filter((row) => !hasEmail(row, email) && hasValue(row, email))
      if (own.length > 0) yield own
    }
  }
}

const hasEmail = (row: Pick<SubmissionRow, 'email'>, email: string) =>
  row.email?.toLowerCase() === email.toLowerCase()

/** A part of a value does not count: a person who mentions an address is not the person who has it. */
const hasValue = (row: Pick<SubmissionRow, 'fields'>, email: string) =>
  [...parseStoredFields(row).values()].some((value) => value.trim().toLowerCase() === email.toLowerCase())

const ROWS_AT_ONCE = 200

async function* scanAddress(
  { db }: SubmissionNeeds,
  { workspaceId }: Actor,
  email: string,
  signal?: AbortSignal,
): AsyncGenerator<SizedPosition[]> {
  for (let after = 0; !signal?.aborted; ) {
    await takeTurn()
    const found = await selectOfAddress(db.read, workspaceId, email)
      .select(['id', 'created_at', sql<number>`octet_length(fields)`.as('bytes')])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    const last = found.at(-1)
    if (!last) return
    yield found
    after = last.id
  }
}

const READ_AT_ONCE = 40

async function* readSteps(scope: { needs: SubmissionNeeds; actor: Actor }, positions: SizedPosition[]) {
  for (let from = 0; from < positions.length; from += READ_AT_ONCE) {
    const rows = await readSubmissions(scope, positions.slice(from, from + READ_AT_ONCE))
    if (rows.length > 0) yield rows
  }
}
