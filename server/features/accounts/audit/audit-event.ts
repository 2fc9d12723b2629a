// An event of the audit log as JSON, and the rows of a workspace's log that pass the filters of a request.

import { z } from '@hono/zod-openapi'
import { sql } from 'kysely'
import { dateRangeEnd, numberParameter, oneOf, parameter, toIso } from '../../../lib/api-fields.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { AUDIT_ACTIONS, type AuditAction } from './actions.ts'

const ACTOR_TYPES = ['person', 'key', 'operator', 'system', 'unknown'] as const
const ACTOR_MAX = 320

const selection = {
  action: oneOf(AUDIT_ACTIONS).optional(),
  actor: parameter(ACTOR_MAX).optional().openapi({
    description: 'The e-mail address of a person, the name of a key, or a type of actor such as `operator`',
  }),
  start: dateRangeEnd('start', 'An instant, or a date (its first moment, UTC)'),
  end: dateRangeEnd('end', 'An instant (exclusive), or a date (the whole day counts, UTC)'),
}

function requireOrder({ start, end }: { start?: number; end?: number }, context: z.RefinementCtx) {
  if (start === undefined || end === undefined || start < end) return
  context.addIssue({ code: 'custom', path: ['start'], message: 'must be before end' })
}

export const AuditListQuery = z
  .strictObject({
    limit: numberParameter(1, 100).optional(),
    cursor: parameter(1000).optional(),
    ...selection,
  })
  .superRefine(requireOrder)
export type AuditListInput = z.infer<typeof AuditListQuery>

export const AuditExportQuery = z
  .strictObject({ format: oneOf(['csv', 'ndjson']).optional(), ...selection })
  .superRefine(requireOrder)
export type AuditSelection = Omit<z.infer<typeof AuditExportQuery>, 'format'>

export const AuditEventShape = z
  .strictObject({
    id: z.int(),
    at: z.iso.datetime(),
    actor: z
      .strictObject({
        type: z.enum(ACTOR_TYPES),
        id: z.int().nullable(),
        name: z
          .string()
          .nullable()
          .openapi({ description: 'The e-mail address of the person, or the name of the key, at that time' }),
      })
      .openapi({
        description: '`operator` is the command line; `unknown` is somebody who has not proved who they are',
      }),
    action: z.enum(AUDIT_ACTIONS),
    target: z
      .strictObject({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })
      .nullable(),
    ip: z.null().openapi({ description: 'Always null: addresses are not stored' }),
    detail: z.record(z.string(), z.unknown()),
  })
  .openapi('AuditEvent')
export type AuditEventResource = z.infer<typeof AuditEventShape>

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
