// The analytics settings of a workspace, which its export and an import take along.

import type { Selectable } from 'kysely'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import type { Workspaces } from '../../../storage/database/tables/account-tables.ts'
import { type Actor, allow } from '../access/actor.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { UpdateWorkspaceInput, WorkspaceResource } from '../schema.ts'

export type AnalyticsSettings = Pick<
  WorkspaceResource,
  'keptParams' | 'internalNetworks' | 'ignoredReferrers' | 'watchDestinations'
>

export const NO_ANALYTICS_SETTINGS: AnalyticsSettings = {
  keptParams: [],
  internalNetworks: [],
  ignoredReferrers: [],
  watchDestinations: false,
}

const SETTING_COLUMNS = [
  'kept_params',
  'internal_networks',
  'ignored_referrers',
  'watch_destinations',
] as const

export const toAnalyticsSettings = (
  row: Pick<Selectable<Workspaces>, (typeof SETTING_COLUMNS)[number]>,
): AnalyticsSettings => ({
  keptParams: JSON.parse(row.kept_params ?? '[]'),
  internalNetworks: JSON.parse(row.internal_networks ?? '[]'),
  ignoredReferrers: JSON.parse(row.ignored_referrers ?? '[]'),
  watchDestinations: row.watch_destinations === 1,
})

export function toTrafficColumns({
  keptParams,
  internalNetworks,
  ignoredReferrers,
}: Pick<UpdateWorkspaceInput, 'keptParams' | 'internalNetworks' | 'ignoredReferrers'>) {
  const toColumn = (list: string[] | null) => (list?.length ? JSON.stringify(list) : null)
  return {
    ...(keptParams !== undefined && { kept_params: toColumn(keptParams) }),
    ...(internalNetworks !== undefined && { internal_networks: toColumn(internalNetworks) }),
    ...(ignoredReferrers !== undefined && { ignored_referrers: toColumn(ignoredReferrers) }),
  }
}

/** True where one of them is set. */
export const hasAnalyticsSettings = ({ watchDestinations, ...lists }: AnalyticsSettings): boolean =>
  watchDestinations || Object.values(lists).some((list) => list.length > 0)

export async function readAnalyticsSettings(
  connection: Connection,
  workspaceId: number,
): Promise<AnalyticsSettings> {
  const row = await connection
    .selectFrom('workspaces')
    .select(SETTING_COLUMNS)
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return toAnalyticsSettings(row)
}

/** @throws Failure `forbidden` */
export async function storeAnalyticsSettings(
  connection: Connection,
  onCommit: OnCommit,
  actor: Actor,
  { settings, at }: { settings: AnalyticsSettings; at: number },
): Promise<void> {
  allow(actor, 'workspace:write')
  const { workspaceId } = actor
  const before = await readAnalyticsSettings(connection, workspaceId)
  const { name } = await connection
    .updateTable('workspaces')
    .set({
      ...toTrafficColumns(settings),
      watch_destinations: Number(settings.watchDestinations),
      updated_at: at,
    })
    .where('id', '=', workspaceId)
    .returning('name')
    .executeTakeFirstOrThrow()
  recordChange(onCommit, { workspaceId })
  const target = { type: 'workspace', id: workspaceId, name } as const
  for (const setting of Object.keys(before) as (keyof AnalyticsSettings)[]) {
    if (String(before[setting]) === String(settings[setting])) continue
    const detail = { [setting]: settings[setting] }
    await recordAudit(connection, actor, { action: 'workspace.settings_changed', target, detail }, at)
  }
}
