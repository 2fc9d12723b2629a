// Counts the leads of a link in the transaction that stores them, so that `leadLimit` holds without a race.

import { sql } from 'kysely'
import type { Connection, OnCommit } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'

export interface LinkLeads {
  workspaceId: number
  linkId: number
  leads: number
}

/** Credits leads in the caller's transaction, and tells channels of a link that has closed with them. */
export type LeadCrediter = (connection: Connection, onCommit: OnCommit, credit: LinkLeads) => Promise<unknown>

/**
 * Adds leads up to the link's `leadLimit` and none beyond it, as with `clickLimit`. When the limit is reached, the
 * commit voids the link in the caches of redirects.
 * @returns whether these leads have used the last one of the limit
 */
export async function creditLeads(
  connection: Connection,
  onCommit: OnCommit,
  { workspaceId, linkId, leads }: LinkLeads,
): Promise<boolean> {
  const link = await connection
    .updateTable('links')
    .set({
      leads: sql`case when lead_limit is null or leads + ${leads} <= lead_limit then leads + ${leads}
        else lead_limit end`,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', linkId)
    .where(sql<boolean>`(lead_limit is null or leads < lead_limit)`)
    .returning(['domain', 'slug_key', 'leads', 'lead_limit'])
    .executeTakeFirst()
  if (!link || link.lead_limit === null || link.leads < link.lead_limit) return false
  recordChange(onCommit, { domain: link.domain, slugKey: link.slug_key })
  return true
}
