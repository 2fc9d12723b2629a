// An outcome as a row and as an API resource, and the query that chooses outcomes by filters.

import type { Selectable } from 'kysely'
import { toIso } from '../../lib/iso-time.ts'
import type { OutcomeStage } from '../../lib/outcome-stage.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Outcomes } from '../../storage/database/tables/form-tables.ts'
import type { Action, Actor } from '../accounts/access/actor.ts'
import type { OutcomeResource, OutcomeSelection } from './schema.ts'

/** The same right as for submissions. */
export const OUTCOMES_WRITE: Action = 'forms:write'

export const OUTCOME_COLUMNS = [
  'outcomes.id',
  'outcomes.workspace_id',
  'outcomes.submission_id',
  'outcomes.stage',
  'outcomes.value',
  'outcomes.currency',
  'outcomes.at',
  'outcomes.external_id',
  'outcomes.created_at',
  'outcomes.updated_at',
  'submissions.link_id',
  'forms.form_key',
] as const

export type OutcomeRow = Selectable<Outcomes> & { link_id: number | null; form_key: string }

export const selectOutcomes = (
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  by: OutcomeSelection = {},
) => {
  let outcomes = connection
    .selectFrom('outcomes')
    .innerJoin('submissions', 'submissions.id', 'outcomes.submission_id')
    .innerJoin('forms', 'forms.id', 'submissions.form_id')
    .where('outcomes.workspace_id', '=', workspaceId)
  if (by.start !== undefined) outcomes = outcomes.where('outcomes.at', '>=', by.start)
  if (by.end !== undefined) outcomes = outcomes.where('outcomes.at', '<', by.end)
  if (by.stage !== undefined) outcomes = outcomes.where('outcomes.stage', '=', by.stage)
  if (by.currency !== undefined) outcomes = outcomes.where('outcomes.currency', '=', by.currency)
  if (by.submissionId !== undefined) outcomes = outcomes.where('outcomes.submission_id', '=', by.submissionId)
  if (by.formKey !== undefined) outcomes = outcomes.where('forms.form_key', '=', by.formKey)
  if (by.externalId !== undefined) outcomes = outcomes.where('outcomes.external_id', '=', by.externalId)
  return outcomes
}

export const toOutcomeResource = (row: OutcomeRow): OutcomeResource => ({
  id: row.id,
  submissionId: row.submission_id,
  formKey: row.form_key,
  linkId: row.link_id,
  stage: row.stage as OutcomeStage,
  value: row.value,
  currency: row.currency,
  at: toIso(row.at),
  externalId: row.external_id,
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})
