// An event of the audit log as a row and as JSON, and the rows of a workspace's log that pass the filters of a request.

import { sql } from 'kysely'
import { toIso } from '../../../lib/api-fields.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { AuditEventResource, AuditSelection } from '../schema.ts'
import type { AuditAction } from './actions.ts'

export interface AuditEventRow {
  id: number
  at: number
  actor_type: string
  actor_id: number | null
  actor_name: string | null
  action: string
  target_type: string | null
  target_id: string | null
  target_name: string | null
  detail: string
}

export const toAuditEventResource = (row: AuditEventRow): AuditEventResource => ({
  id: row.id,
  at: toIso(row.at),
  actor: {
    type: row.actor_type as AuditEventResource['actor']['type'],
    id: row.actor_id,
    name: row.actor_name,
  },
  action: row.action as AuditAction,
  target:
    row.target_type === null ? null : { type: row.target_type, id: row.target_id, name: row.target_name },
  ip: null,
  detail: JSON.parse(row.detail),
})

export function selectAuditEvents(
  connection: Connection,
  workspaceId: number,
  { action, actor, start, end }: AuditSelection,
) {
  let events = connection.selectFrom('audit_events').where('workspace_id', '=', workspaceId)
  if (action !== undefined) events = events.where('action', '=', action)
  if (actor !== undefined) {
    const isNamed = sql<boolean>`(lower(actor_name) = lower(${actor}) or (actor_name is null and actor_type = lower(${actor})))`
    events = events.where(isNamed)
  }
  if (start !== undefined) events = events.where('at', '>=', start)
  if (end !== undefined) events = events.where('at', '<', end)
  return events
}
