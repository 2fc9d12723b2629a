// Counts the leads of a link in the transaction that stores them, so that `leadLimit` holds without a race.

import { sql } from 'kysely'
import type { Connection, OnCommit } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'

export interface LinkLeads {
  workspaceId: number
  linkId: number
  leads: number
}

/**
 * Adds leads up to the link's `leadLimit` and none beyond it, as with `clickLimit`. When the limit is reached, the
 * commit voids the link in the caches of redirects.
 */
export async function creditLeads(
  connection: Connection,
  onCommit: OnCommit,
  { workspaceId, linkId, leads }: LinkLeads,
): Promise<void> {
  const link = await connection
    .updateTable('links')
    .set({
      leads: sql`case when lead_limit is null or leads + ${leads} <= lead_limit then leads + ${leads}
        when leads < lead_limit then lead_limit else leads end`,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', linkId)
    .returning(['domain', 'slug_key', 'leads', 'lead_limit'])
    .executeTakeFirst()
  if (!link || link.lead_limit === null || link.leads < link.lead_limit) return
  recordChange(onCommit, { domain: link.domain, slugKey: link.slug_key })
}
