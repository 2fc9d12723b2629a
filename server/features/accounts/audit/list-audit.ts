// Lists the audit log of a workspace, newest first, and exports it, oldest first.

import { sql } from 'kysely'
import { toCsvLine } from '../../../lib/formats/csv-line.ts'
import { toIso } from '../../../lib/iso-time.ts'
import {
  cutPage,
  orderById,
  type Page,
  type PlaceRange,
  readPageQuery,
  scanPage,
} from '../../../lib/pagination.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { AuditEventResource, AuditListInput, AuditSelection } from '../schema.ts'
import type { AuditAction } from './actions.ts'

const ORDER = orderById('audit id desc')
/** Reading this many rows holds up redirects for some 3 ms. */
const ROWS_AT_ONCE = 500

/** @throws Failure `invalid` for a wrong cursor */
export async function listAudit(
  { db }: { db: Database },
  workspaceId: number,
  query: AuditListInput,
): Promise<Page<AuditEventResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const events = selectAuditEvents(db.read, workspaceId, query)
  const { rows: found, total } = await scanPage<AuditEventRow, number>({
    limit: limit + 1,
    async findPlace(from, skipped) {
      // PostgreSQL runs queries in other processes, so it counts in one query.
      if (db.engine === 'postgres') return undefined
      const all = db.read.selectFrom('audit_events').select('id').where('workspace_id', '=', workspaceId)
      const rest = from === undefined ? all : all.where('id', '<=', from)
      return (await rest.orderBy('id', 'desc').offset(skipped).limit(1).executeTakeFirst())?.id
    },
    read(range, most) {
      let page = events.where(isIn(range)).selectAll()
      if (after !== undefined) page = page.where('id', '<', after.id)
      return page.orderBy('id', 'desc').limit(most).execute()
    },
    async count(range) {
      const count = events.where(isIn(range)).select((e) => e.fn.countAll<number>().as('n'))
      return (await count.executeTakeFirstOrThrow()).n
    },
  })
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toAuditEventResource), nextCursor, total }
}

interface AuditEventRow {
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

const toAuditEventResource = (row: AuditEventRow): AuditEventResource => ({
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

/** The rows of a workspace's log that pass the filters of a request. */
function selectAuditEvents(
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

const isIn = ({ from, before }: PlaceRange<number>) =>
  sql<boolean>`id <= ${from ?? Number.MAX_SAFE_INTEGER} and id > ${before ?? 0}`

const CSV_HEADER = [
  'id',
  'at',
  'actorType',
  'actorId',
  'actor',
  'action',
  'targetType',
  'targetId',
  'target',
  'detail',
]

const toLine = (event: AuditEventResource, format: 'csv' | 'ndjson') =>
  format === 'ndjson'
    ? `${JSON.stringify(event)}\n`
    : toCsvLine([
        event.id,
        event.at,
        event.actor.type,
        event.actor.id,
        event.actor.name,
        event.action,
        event.target?.type ?? null,
        event.target?.id ?? null,
        event.target?.name ?? null,
        JSON.stringify(event.detail),
      ])

/** The events up to now; each text has one page of them. Ends early when the caller closes the connection. */
export async function* exportAudit(
  { db }: { db: Database },
  workspaceId: number,
  { format, ...selection }: AuditSelection & { format: 'csv' | 'ndjson' },
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (format === 'csv') yield toCsvLine(CSV_HEADER)
  const newest = await selectAuditEvents(db.read, workspaceId, {})
    .select((e) => e.fn.max('id').as('id'))
    .executeTakeFirst()
  const upTo = Number(newest?.id ?? 0)
  for (let lastId = 0; !signal.aborted; ) {
    const rows = await selectAuditEvents(db.read, workspaceId, selection)
      .selectAll()
      .where('id', '>', lastId)
      .where('id', '<=', upTo)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => toLine(toAuditEventResource(row), format)).join('')
    if (rows.length < ROWS_AT_ONCE) return
    lastId = last.id
    // SQLite answers without a turn of the event loop. This pause lets redirects run in between.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
