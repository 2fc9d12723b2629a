// Ends a split: the best variant becomes the destination, or the first one where the difference may be chance. The link
// keeps the figures.

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { announceLink } from '../links/announce-link.ts'
import { getLink } from '../links/get.ts'
import { type LinkRow, type Site, toLinkResource } from '../links/link.ts'
import type { LinkResource } from '../links/schema.ts'
import type { SplitResult, Variant } from '../links/split/schema.ts'
import { updateLinkIn } from '../links/update.ts'
import { type RunningSplit, readSplitFigures, type SplitNeeds } from './split-figures.ts'

export interface EndSplitNeeds extends SplitNeeds {
  site: Site
}

/** @throws Failure `conflict` for a link without a split */
export function toRunningSplit(link: LinkRow): RunningSplit {
  if (link.split === null) throw new Failure('conflict', 'This link has no split')
  return {
    workspaceId: link.workspace_id,
    linkId: link.id,
    variants: JSON.parse(link.split) as Variant[],
    startedAt: link.split_started_at ?? link.created_at,
  }
}

/** @throws Failure `not_found`, `conflict`; `unavailable` when the clicks cannot be counted */
export async function endSplit(needs: EndSplitNeeds, actor: Actor, id: number): Promise<LinkResource> {
  const { db, now, site } = needs
  const before = await getLink(db.read, actor, id)
  const split = toRunningSplit(before)
  const figures = await readSplitFigures(needs, split)
  const chosen = split.variants.find(({ label }) => label === figures.best) ?? (split.variants[0] as Variant)
  return db.write(async (connection, onCommit) => {
    const transaction = { db, connection, onCommit, site, now }
    const current = await getLink(connection, actor, id)
    if (current.split !== before.split)
      throw new Failure('conflict', 'The split has changed in the meantime. Check it, and end it again')
    await updateLinkIn(
      transaction,
      actor,
      id,
      { destinationUrl: chosen.url, split: null },
      { passwordHash: undefined },
    )
    const result: SplitResult = {
      startedAt: new Date(split.startedAt).toISOString(),
      endedAt: new Date(now()).toISOString(),
      ...figures,
      chosen: chosen.label,
    }
    await connection
      .updateTable('links')
      .set({ split_result: JSON.stringify(result) })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'link', id: String(id), name: before.slug } as const
    const detail = { chosen: chosen.label, best: figures.best }
    await recordAudit(connection, actor, { action: 'link.split_ended', target, detail }, now())
    const link = await toLinkResource(connection, site, await getLink(connection, actor, id))
    const event = { workspaceId: actor.workspaceId, event: 'split.decided', at: now() } as const
    await announceLink(transaction, event, () => link)
    return link
  })
}

/** Ends the splits whose time is over. One that cannot be ended now is tried again with the next run. */
export async function endDueSplits(needs: EndSplitNeeds): Promise<void> {
  for (const { id, workspace_id: workspaceId } of await listDueSplits(needs)) {
    const actor = { kind: 'operator', keyId: null, workspaceId, plan: 'enterprise' } as const
    try {
      await endSplit(needs, actor, id)
    } catch (error) {
      log.warn('split_not_ended', { link: id, ...describeError(error) })
    }
  }
}

/** Of all workspaces: the job is the server's own. */
function listDueSplits({ db, now }: EndSplitNeeds) {
  return db.read
    .selectFrom('links')
    .select(['id', 'workspace_id'])
    .where('split_ends_at', 'is not', null)
    .where('split_ends_at', '<=', now())
    .where('deleted_at', 'is', null)
    .limit(100)
    .execute()
}
