// Lists the deliveries of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import {
  cutPage,
  orderByCreation,
  type Page,
  type PlaceRange,
  readPageQuery,
  scanPage,
} from '../../../lib/pagination.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { DeliveryListQueryInput, DeliveryResource } from '../schema.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, selectDeliveries, toDeliveryResource } from './delivery.ts'

const ORDER = orderByCreation('deliveries createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listDeliveries(
  { db }: { db: Database },
  actor: Actor,
  query: DeliveryListQueryInput,
): Promise<Page<DeliveryResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const formId = await findFormId(db.read, actor, query)
  if (formId === null) return { data: [], nextCursor: null, total: 0 }
  const filtered = applyFilters(selectDeliveries(db.read, actor), query, formId)
  // The places are between start and end already. With both conditions, SQLite would read from the start in each step.
  const inRange = ({ from, before }: PlaceRange<Place>) => {
    let rows = filtered
    if (from) rows = rows.where(sql<boolean>`${POSITION} <= (${from.created_at}, ${from.id})`)
    else if (query.end !== undefined) rows = rows.where('deliveries.created_at', '<', query.end)
    if (before) rows = rows.where(sql<boolean>`${POSITION} > (${before.created_at}, ${before.id})`)
    else if (query.start !== undefined) rows = rows.where('deliveries.created_at', '>=', query.start)
    return rows
  }
  const { rows: found, total } = await scanPage<DeliveryRow, Place>({
    limit: limit + 1,
    findPlace: (from, skipped) => findPlace(db, actor, query, from, skipped),
    read(range, most) {
      let page = inRange(range).select(DELIVERY_COLUMNS)
      if (after) page = page.where(sql<boolean>`${POSITION} < (${after.value}, ${after.id})`)
      return page
        .orderBy('deliveries.created_at', 'desc')
        .orderBy('deliveries.id', 'desc')
        .limit(most)
        .execute()
    },
    async count(range) {
      const count = inRange(range).select((e) => e.fn.countAll<number>().as('n'))
      return (await count.executeTakeFirstOrThrow()).n
    },
  })
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map((row) => toDeliveryResource(actor, row)), nextCursor, total }
}

interface Place {
  created_at: number
  id: number
}

const POSITION = sql`(deliveries.created_at, deliveries.id)`

/** PostgreSQL counts in a process of its own, at once. */
async function findPlace(
  { engine, read }: Database,
  { workspaceId }: Actor,
  { start, end }: DeliveryListQueryInput,
  from: Place | undefined,
  skipped: number,
): Promise<Place | undefined> {
  if (engine === 'postgres') return undefined
  let places = read
    .selectFrom('deliveries')
    .select(['created_at', 'id'])
    .where('workspace_id', '=', workspaceId)
  if (from) places = places.where(sql<boolean>`(created_at, id) <= (${from.created_at}, ${from.id})`)
  else if (end !== undefined) places = places.where('created_at', '<', end)
  if (start !== undefined) places = places.where('created_at', '>=', start)
  return places
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(skipped)
    .limit(1)
    .executeTakeFirst()
}

/** @returns undefined where no form is asked for, null for an unknown one */
async function findFormId(
  connection: Connection,
  { workspaceId }: Actor,
  { formKey }: DeliveryListQueryInput,
) {
  if (formKey === undefined) return undefined
  const form = await connection
    .selectFrom('forms')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('form_key', '=', formKey)
    .executeTakeFirst()
  return form?.id ?? null
}

type Deliveries = ReturnType<typeof selectDeliveries>

function applyFilters(
  deliveries: Deliveries,
  { status, channelId, submissionId }: DeliveryListQueryInput,
  formId: number | undefined,
): Deliveries {
  let filtered = deliveries
  if (status !== undefined) filtered = filtered.where('deliveries.status', '=', status)
  if (channelId !== undefined) filtered = filtered.where('deliveries.channel_id', '=', channelId)
  if (formId !== undefined) filtered = filtered.where('submissions.form_id', '=', formId)
  if (submissionId !== undefined) filtered = filtered.where('deliveries.submission_id', '=', submissionId)
  return filtered
}
