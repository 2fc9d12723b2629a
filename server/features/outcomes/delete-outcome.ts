// Takes back an outcome.

import { notFound } from '../../lib/failure.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { OUTCOME_COLUMNS, OUTCOMES_WRITE, selectOutcomes, toOutcomeResource } from './outcome.ts'
import type { OutcomeNeeds } from './record-outcomes.ts'
import type { OutcomeResource } from './schema.ts'

/** @returns the outcome as it was. @throws Failure `not_found` */
export function deleteOutcome({ db, now }: OutcomeNeeds, actor: Actor, id: number): Promise<OutcomeResource> {
  allow(actor, OUTCOMES_WRITE)
  return db.write(async (connection) => {
    const row = await selectOutcomes(connection, actor)
      .select(OUTCOME_COLUMNS)
      .where('outcomes.id', '=', id)
      .executeTakeFirst()
    const { numDeletedRows } = await connection
      .deleteFrom('outcomes')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (!row || numDeletedRows === 0n) throw notFound('Outcome')
    const target = { type: 'outcome', id } as const
    const detail = { submissionId: row.submission_id, stage: row.stage }
    await recordAudit(connection, actor, { action: 'outcome.deleted', target, detail }, now())
    return toOutcomeResource(row)
  })
}
