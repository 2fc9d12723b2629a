// The deliveries of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../../lib/cursor.ts'
import { invalid } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { DeliveryListQueryInput, DeliveryResource } from '../schema.ts'
import { DELIVERY_COLUMNS, selectDeliveries, toDeliveryResource } from './delivery.ts'

const PAGE = 50
const ORDER = 'deliveries createdAt desc'

/** @throws Failure `invalid` for a wrong cursor */
export async function listDeliveries(
  { db }: { db: Database },
  actor: Actor,
  query: DeliveryListQueryInput,
): Promise<{ data: DeliveryResource[]; nextCursor: string | null; total: number }> {
  const limit = query.limit ?? PAGE
  let chosen = selectDeliveries(db.read, actor)
  if (query.status !== undefined) chosen = chosen.where('deliveries.status', '=', query.status)
  if (query.channelId !== undefined) chosen = chosen.where('deliveries.channel_id', '=', query.channelId)
  if (query.formKey !== undefined) chosen = chosen.where('forms.form_key', '=', query.formKey)
  if (query.submissionId !== undefined)
    chosen = chosen.where('deliveries.submission_id', '=', query.submissionId)
  if (query.start !== undefined) chosen = chosen.where('deliveries.created_at', '>=', query.start)
  if (query.end !== undefined) chosen = chosen.where('deliveries.created_at', '<', query.end)
  let page = chosen.select(DELIVERY_COLUMNS)
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, ORDER)
    if (typeof cursor?.value !== 'number')
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    page = page.where(sql<boolean>`(deliveries.created_at, deliveries.id) < (${cursor.value}, ${cursor.id})`)
  }
  const found = await page
    .orderBy('deliveries.created_at', 'desc')
    .orderBy('deliveries.id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await chosen.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const deliveries = found.slice(0, limit)
  const last = found.length > limit ? deliveries.at(-1) : undefined
  return {
    data: deliveries.map(toDeliveryResource),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}
