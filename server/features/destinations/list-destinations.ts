// Lists the destinations of a workspace, those with problems first, a page at a time.

import { sql } from 'kysely'
import { toIsoOrNull } from '../../lib/iso-time.ts'
import { cutPage, type Page, type PageOrder, readPageQuery } from '../../lib/pagination.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { readStoredState, toStoredState } from './judge-check.ts'
import type { DestinationListQueryInput, DestinationResource } from './schema.ts'
import type { DestinationSync } from './sync-destinations.ts'

export interface DestinationListNeeds {
  db: Database
  sync: Pick<DestinationSync, 'syncForQuestion'>
}

const ORDER: PageOrder<{ state: number; id: number }, number> = {
  name: 'destinations state',
  type: 'number',
  valueOf: ({ state }) => state,
}

const POSITION = sql`(state, id)`

/** Empty where the workspace does not watch its destinations. @throws Failure `invalid` for a wrong cursor */
export async function listDestinations(
  { db, sync }: DestinationListNeeds,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { state: states, ...query }: DestinationListQueryInput,
): Promise<Page<DestinationResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const workspace = await db.read
    .selectFrom('workspaces')
    .select('watch_destinations')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (workspace?.watch_destinations !== 1) return { data: [], nextCursor: null, total: 0 }
  // The pages of one list are of one sync.
  if (!after) await sync.syncForQuestion(workspaceId)
  let filtered = db.read.selectFrom('destinations').where('workspace_id', '=', workspaceId)
  if (states) filtered = filtered.where('state', 'in', states.map(toStoredState))
  let page = filtered.select([
    ...(['id', 'url', 'host', 'state', 'status', 'message', 'checked_at', 'since', 'links'] as const),
  ])
  if (after) page = page.where(sql<boolean>`${POSITION} > (${after.value}, ${after.id})`)
  const [found, total] = await Promise.all([
    page
      .orderBy('state')
      .orderBy('id')
      .limit(limit + 1)
      .execute(),
    filtered.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow(),
  ])
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  const data = rows.map(
    ({ url, host, state, status, message, checked_at, since, links }): DestinationResource => ({
      url,
      host,
      state: readStoredState(state),
      status,
      message,
      checkedAt: toIsoOrNull(checked_at),
      since: toIsoOrNull(since),
      links,
    }),
  )
  return { data, nextCursor, total: Number(total.n) }
}
