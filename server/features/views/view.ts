// A view as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { notFound } from '../../lib/failure.ts'
import { toIso, toIsoOrNull } from '../../lib/iso-time.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Views } from '../../storage/database/tables/view-tables.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { AttributionModel } from '../analytics/attribution-model.ts'
import type { Interval } from '../analytics/timeline.ts'
import type { ViewResource } from './schema.ts'
import type { ViewSettings } from './view-selection.ts'

export const SHARE_PATH = '/s/'

export type ViewRow = Selectable<Views>

/** With the name of the person who made it. */
type NamedViewRow = ViewRow & { user_name: string | null }

export const selectViews = (connection: Connection, { workspaceId }: Pick<Actor, 'workspaceId'>) =>
  connection
    .selectFrom('views')
    .leftJoin('users', 'users.id', 'views.user_id')
    .where('views.workspace_id', '=', workspaceId)
    .selectAll('views')
    .select('users.name as user_name')

/** @throws Failure `not_found`, for an unknown view and for a view of another workspace alike */
export async function getView(connection: Connection, actor: Actor, id: number): Promise<NamedViewRow> {
  const view = await selectViews(connection, actor).where('views.id', '=', id).executeTakeFirst()
  if (!view) throw notFound('View')
  return view
}

const SHARE_TOKEN = /^[\w-]{22}$/

/**
 * Finds the view of a shared page. It names no workspace: the token is the secret that opens the page. Each request asks the
 * database, so a share ends with the request after its end.
 * @returns undefined where there is no page
 */
export async function findSharedView(
  read: Connection,
  token: string,
  now: number,
): Promise<ViewRow | undefined> {
  if (!SHARE_TOKEN.test(token)) return undefined
  const view = await read
    .selectFrom('views')
    .innerJoin('workspaces', 'workspaces.id', 'views.workspace_id')
    .selectAll('views')
    .where('views.share_token', '=', token)
    .where('workspaces.suspended_at', 'is', null)
    .executeTakeFirst()
  return view && (view.share_expires_at === null || view.share_expires_at > now) ? view : undefined
}

export const toViewSettings = (row: ViewRow): ViewSettings => ({
  filters: JSON.parse(row.filters),
  interval: row.interval_name as Interval | null,
  start: row.range_start,
  end: row.range_end,
  timezone: row.timezone,
  model: row.model as AttributionModel,
})

export const toViewResource = (origin: string, row: NamedViewRow): ViewResource => ({
  id: row.id,
  name: row.name,
  ...(toViewSettings(row) as Pick<
    ViewResource,
    'filters' | 'interval' | 'start' | 'end' | 'timezone' | 'model'
  >),
  share:
    row.share_token === null
      ? null
      : {
          url: `${origin}${SHARE_PATH}${row.share_token}`,
          passwordProtected: row.share_password_hash !== null,
          expiresAt: toIsoOrNull(row.share_expires_at),
          showLeads: row.share_leads_shown === 1,
        },
  embed: JSON.parse(row.embed),
  report: row.report === null ? null : JSON.parse(row.report),
  alert: row.alert === null ? null : JSON.parse(row.alert),
  nextReportAt: toIsoOrNull(row.report_due_at),
  createdBy: row.user_id === null ? null : { userId: row.user_id, name: row.user_name ?? '' },
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})
