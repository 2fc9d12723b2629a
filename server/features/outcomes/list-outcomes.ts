// Lists the outcomes of a workspace, latest first, a page at a time.

import type { Page } from '../../lib/pagination.ts'
import { listLong } from '../../storage/database/list-long.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { OUTCOME_COLUMNS, selectOutcomes, toOutcomeResource } from './outcome.ts'
import type { OutcomeListQueryInput, OutcomeResource } from './schema.ts'

const LIST = { name: 'outcomes at desc', table: 'outcomes', time: 'at' } as const

/** @throws Failure `invalid` for a wrong cursor */
export async function listOutcomes(
  { db }: { db: Database },
  actor: Actor,
  { limit, cursor, start, end, ...by }: OutcomeListQueryInput,
): Promise<Page<OutcomeResource>> {
  const outcomes = selectOutcomes(db.read, actor, by).select(OUTCOME_COLUMNS)
  const list = { ...LIST, workspaceId: actor.workspaceId, limit, cursor, start, end }
  const { rows, ...page } = await listLong(db, outcomes, list)
  return { data: rows.map(toOutcomeResource), ...page }
}
