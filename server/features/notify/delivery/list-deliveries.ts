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
import type { Database } from '../../../storage/database/open-database.ts'
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
  const filtered = applyFilters(selectDeliveries(db.read, actor), query)
  const inRange = ({ from, before }: PlaceRange<Place>) => {
    let rows = filtered
    if (from) rows = rows.where(sql<boolean>`${POSITION} <= (${from.created_at}, ${from.id})`)
    if (before) rows = rows.where(sql<boolean>`${POSITION} > (${before.created_at}, ${before.id})`)
    return rows
  }
  const { rows: found, total } = await scanPage<DeliveryRow, Place>({
    limit: limit + 1,
    findPlace: (from, skipped) => findPlace(db, actor, from, skipped),
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
  from: Place | undefined,
  skipped: number,
): Promise<Place | undefined> {
  if (engine === 'postgres') return undefined
  let places = read
    .selectFrom('deliveries')
    .select(['created_at', 'id'])
    .where('workspace_id', '=', workspaceId)
  if (from) places = places.where(sql<boolean>`(created_at, id) <= (${from.created_at}, ${from.id})`)
  return places
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(skipped)
    .limit(1)
    .executeTakeFirst()
}

type Deliveries = ReturnType<typeof selectDeliveries>

function applyFilters(deliveries: Deliveries, query: DeliveryListQueryInput): Deliveries {
  let filtered = deliveries
  if (query.status !== undefined) filtered = filtered.where('deliveries.status', '=', query.status)
  if (query.channelId !== undefined) filtered = filtered.where('deliveries.channel_id', '=', query.channelId)
  if (query.formKey !== undefined) filtered = filtered.where('forms.form_key', '=', query.formKey)
  if (query.submissionId !== undefined)
    filtered = filtered.where('deliveries.submission_id', '=', query.submissionId)
  if (query.start !== undefined) filtered = filtered.where('deliveries.created_at', '>=', query.start)
  if (query.end !== undefined) filtered = filtered.where('deliveries.created_at', '<', query.end)
  return filtered
}
