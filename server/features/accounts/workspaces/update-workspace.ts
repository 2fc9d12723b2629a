// Renames a workspace, and sets its brand, its analytics, a second factor for members, and what owners get emails about.

import { invalid } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow, toRole } from '../access/actor.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { deleteUnusedLogos, storeBrand } from '../brand/store-brand.ts'
import type { UpdateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { toTrafficColumns } from './analytics-settings.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'

/** @throws Failure `forbidden`, `invalid` */
export function updateWorkspace(
  needs: WorkspaceNeeds,
  actor: Actor,
  {
    name,
    requireTwoFactor,
    missingReportAbove,
    watchDestinations,
    brand: brandInput,
    ...input
  }: UpdateWorkspaceInput,
): Promise<WorkspaceResource> {
  allow(actor, 'workspace:write')
  return needs.db.write(async (connection, onCommit) => {
    // An owner without a second factor would lock themselves out.
    if (requireTwoFactor && actor.kind === 'user' && !(await hasSecondFactor(connection, actor.userId)))
      throw invalid({
        requireTwoFactor: 'requires that you have a second factor: set one up in your account',
      })
    const at = needs.now()
    const { workspaceId } = actor
    const stored = await connection
      .selectFrom('workspaces')
      .select('brand')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    const brand = await storeBrand(connection, {
      workspaceId,
      before: stored?.brand ?? null,
      input: brandInput,
      at,
    })
    const traffic = toTrafficColumns(input)
    const changes = {
      ...(brand !== undefined && { brand }),
      ...(name !== undefined && { name }),
      ...(requireTwoFactor !== undefined && { require_two_factor: requireTwoFactor ? 1 : 0 }),
      ...(missingReportAbove !== undefined && { missing_report_above: missingReportAbove }),
      ...(watchDestinations !== undefined && { watch_destinations: Number(watchDestinations) }),
      ...traffic,
    }
    const viewer = { workspaceId: actor.workspaceId, role: toRole(actor) }
    const before = await describeWorkspaceIn(connection, needs, viewer)
    if (Object.keys(changes).length === 0) return before
    await connection
      .updateTable('workspaces')
      .set({ ...changes, updated_at: at })
      .where('id', '=', actor.workspaceId)
      .execute()
    if (Object.keys(traffic).length > 0) recordChange(onCommit, { workspaceId })
    if (brand !== undefined) await deleteUnusedLogos(connection, workspaceId)
    const after = await describeWorkspaceIn(connection, needs, viewer)
    await recordUpdate(connection, actor, before, after, at)
    return after
  })
}

const SETTINGS = [
  'requireTwoFactor',
  'missingReportAbove',
  'watchDestinations',
  'keptParams',
  'internalNetworks',
  'ignoredReferrers',
] as const

async function recordUpdate(
  connection: Connection,
  actor: Actor,
  before: WorkspaceResource,
  after: WorkspaceResource,
  at: number,
) {
  const target = { type: 'workspace', id: after.id, name: after.name } as const
  if (before.name !== after.name) {
    const detail = { from: before.name, to: after.name }
    await recordAudit(connection, actor, { action: 'workspace.renamed', target, detail }, at)
  }
  for (const setting of SETTINGS) {
    if (String(before[setting]) === String(after[setting])) continue
    const detail = { [setting]: after[setting] }
    await recordAudit(connection, actor, { action: 'workspace.settings_changed', target, detail }, at)
  }
  const names = Object.keys(after.brand) as (keyof typeof after.brand)[]
  const fields = names.filter((field) => before.brand[field] !== after.brand[field])
  if (fields.length > 0) {
    const detail = { brand: fields }
    await recordAudit(connection, actor, { action: 'workspace.settings_changed', target, detail }, at)
  }
}
