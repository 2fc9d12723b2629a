// Lists the deliveries of a workspace, newest first, a page at a time.

import type { Page } from '../../../lib/pagination.ts'
import { listLong } from '../../../storage/database/list-long.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { DeliveryListQueryInput, DeliveryResource } from '../schema.ts'
import { selectDeliveries, toDeliveryResource } from './delivery.ts'

const LIST = { name: 'deliveries createdAt desc', table: 'deliveries', time: 'created_at' } as const

/** @throws Failure `invalid` for a wrong cursor */
export async function listDeliveries(
  { db }: { db: Database },
  actor: Actor,
  { status, channelId, submissionId, formKey, ...query }: DeliveryListQueryInput,
): Promise<Page<DeliveryResource>> {
  let deliveries = selectDeliveries(db.read, actor)
  if (status !== undefined) deliveries = deliveries.where('deliveries.status', '=', status)
  if (channelId !== undefined) deliveries = deliveries.where('deliveries.channel_id', '=', channelId)
  if (submissionId !== undefined) deliveries = deliveries.where('deliveries.submission_id', '=', submissionId)
  if (formKey !== undefined) {
    const formId = await findFormId(db.read, actor, formKey)
    if (formId === undefined) return { data: [], nextCursor: null, total: 0 }
    deliveries = deliveries.where('submissions.form_id', '=', formId)
  }
  const list = { ...LIST, workspaceId: actor.workspaceId, ...query }
  const { rows, ...page } = await listLong(db, deliveries, list)
  return { data: rows.map((row) => toDeliveryResource(actor, row)), ...page }
}

async function findFormId(
  connection: Connection,
  { workspaceId }: Actor,
  formKey: string,
): Promise<number | undefined> {
  const form = await connection
    .selectFrom('forms')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('form_key', '=', formKey)
    .executeTakeFirst()
  return form?.id
}
