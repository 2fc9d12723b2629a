// Lists the deliveries of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { DeliveryListQueryInput, DeliveryResource } from '../schema.ts'
import { DELIVERY_COLUMNS, selectDeliveries, toDeliveryResource } from './delivery.ts'

const ORDER = orderByCreation('deliveries createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listDeliveries(
  { db }: { db: Database },
  actor: Actor,
  query: DeliveryListQueryInput,
): Promise<Page<DeliveryResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const filtered = applyFilters(selectDeliveries(db.read, actor), query)
  let page = filtered.select(DELIVERY_COLUMNS)
  if (after)
    page = page.where(sql<boolean>`(deliveries.created_at, deliveries.id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('deliveries.created_at', 'desc')
    .orderBy('deliveries.id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await filtered.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map((row) => toDeliveryResource(actor, row)), nextCursor, total: Number(total.n) }
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
