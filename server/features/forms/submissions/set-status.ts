// Sets the status of submissions with all its effects: held-back submissions are announced, and the classifier of the
// workspace learns.

import { sql } from 'kysely'
import type { Connection, DatabaseEngine, OnCommit } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type AnnounceNeeds, announceHeldSubmissions } from '../leads/announce-submission.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import type { SpamLearner } from '../spam/learn-spam.ts'
import type { Verdict } from '../spam/number-features.ts'
import type { SET_STATUSES, SubmissionStatus } from './schema.ts'

export interface StatusNeeds extends AnnounceNeeds {
  now: () => number
  spam: Pick<SpamLearner, 'learn'>
}

type SetStatus = (typeof SET_STATUSES)[number]

/** Changes nothing where a submission is missing. */
export async function setStatus(
  connection: Connection,
  onCommit: OnCommit,
  needs: StatusNeeds,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { ids, status }: { ids: number[]; status: SetStatus },
): Promise<void> {
  const named = await selectForStatus(connection, needs.db.engine, workspaceId, ids)
  const found = new Set(named.map(({ id }) => id))
  if (ids.some((id) => !found.has(id))) return
  const released = status === 'spam' ? [] : named.filter(isHeld)
  // The first of identical submissions is the lead, so it comes back with its copy.
  const originals = released.flatMap(({ duplicate_of: id }) => (id === null || found.has(id) ? [] : [id]))
  const rows = [
    ...named,
    ...(await selectForStatus(connection, needs.db.engine, workspaceId, originals)).filter(isHeld),
  ]
  const changed = rows.map(({ id }) => id)
  await connection
    .updateTable('submissions')
    .set({ status })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', changed)
    .execute()
  if (status !== 'spam')
    await announceHeldSubmissions(connection, onCommit, needs, { workspaceId, ids: changed, at: needs.now() })
  for (const verdict of ['spam', 'good'] as const) {
    const submissions = rows.filter((row) => toVerdict(row, status) === verdict)
    await needs.spam.learn(connection, onCommit, workspaceId, { verdict, submissions })
  }
}

const isHeld = ({ status }: { status: string }) => status === 'spam' || status === 'unconfirmed'

/** PostgreSQL locks the rows, in one order, so that two changes at once teach one after the other. */
async function selectForStatus(
  connection: Connection,
  engine: DatabaseEngine,
  workspaceId: number,
  ids: number[],
) {
  if (ids.length === 0) return []
  const rows = connection
    .selectFrom('submissions')
    .select(['id', 'status', 'learned', 'duplicate_of', 'announced'])
    .select(sql<number>`octet_length(fields)`.as('bytes'))
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .orderBy('id')
  return engine === 'postgres' ? rows.forUpdate().execute() : rows.execute()
}

/**
 * The lesson of a new status; undefined where it has none. A copy teaches nothing: it would count the
 * sender's double click twice. Nor does a test.
 */
function toVerdict(
  row: { status: string; duplicate_of: number | null; announced: number },
  status: SubmissionStatus,
): Verdict | undefined {
  if (row.duplicate_of !== null || row.announced === ANNOUNCED.test) return undefined
  if (status === 'spam') return 'spam'
  return status === 'new' && !isHeld(row) ? undefined : 'good'
}
