// Lists the outcomes of a workspace, latest first, a page at a time.

import { sql } from 'kysely'
import {
  cutPage,
  type Page,
  type PageOrder,
  type PlaceRange,
  readPageQuery,
  scanPage,
} from '../../lib/pagination.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { OUTCOME_COLUMNS, type OutcomeRow, selectOutcomes, toOutcomeResource } from './outcome.ts'
import type { OutcomeListQueryInput, OutcomeResource } from './schema.ts'

const ORDER: PageOrder<Place, number> = { name: 'outcomes at desc', type: 'number', valueOf: ({ at }) => at }

interface Place {
  at: number
  id: number
}

const POSITION = sql`(outcomes.at, outcomes.id)`

/** @throws Failure `invalid` for a wrong cursor */
export async function listOutcomes(
  { db }: { db: Database },
  actor: Actor,
  { limit: limitInput, cursor, ...by }: OutcomeListQueryInput,
): Promise<Page<OutcomeResource>> {
  const { limit, after } = readPageQuery({ limit: limitInput, cursor }, ORDER)
  const filtered = selectOutcomes(db.read, actor, by)
  const inRange = ({ from, before }: PlaceRange<Place>) => {
    let rows = filtered
    if (from) rows = rows.where(sql<boolean>`${POSITION} <= (${from.at}, ${from.id})`)
    if (before) rows = rows.where(sql<boolean>`${POSITION} > (${before.at}, ${before.id})`)
    return rows
  }
  const { rows: found, total } = await scanPage<OutcomeRow, Place>({
    limit: limit + 1,
    findPlace: (from, skipped) => findPlace(db, actor, from, skipped),
    read(range, most) {
      let page = inRange(range).select(OUTCOME_COLUMNS)
      if (after) page = page.where(sql<boolean>`${POSITION} < (${after.value}, ${after.id})`)
      return page.orderBy('outcomes.at', 'desc').orderBy('outcomes.id', 'desc').limit(most).execute()
    },
    async count(range) {
      const count = inRange(range).select((e) => e.fn.countAll<number>().as('n'))
      return (await count.executeTakeFirstOrThrow()).n
    },
  })
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toOutcomeResource), nextCursor, total }
}

/** PostgreSQL counts in a process of its own, at once. */
async function findPlace(
  { engine, read }: Database,
  { workspaceId }: Actor,
  from: Place | undefined,
  skipped: number,
): Promise<Place | undefined> {
  if (engine === 'postgres') return undefined
  let places = read.selectFrom('outcomes').select(['at', 'id']).where('workspace_id', '=', workspaceId)
  if (from) places = places.where(sql<boolean>`(at, id) <= (${from.at}, ${from.id})`)
  return places.orderBy('at', 'desc').orderBy('id', 'desc').offset(skipped).limit(1).executeTakeFirst()
}
