// Replaces a destination in all links that have it, in one transaction: in their destination, expiration URL, targeting,
// rules and variants. Each link keeps its own rules, and one that cannot change keeps all others from changing.

import { invalid, notFound } from '../../lib/failure.ts'
import { checkUrl, parseUrl } from '../../lib/web-url.ts'
import { toNestedDatabase } from '../../storage/database/nested-database.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { runAllOrNothing } from '../links/bulk.ts'
import type { LinkNeeds } from '../links/create.ts'
import { getLinkForUpdate } from '../links/get.ts'
import { updateLinkIn } from '../links/update.ts'
import { replaceLinkUrl } from './link-urls.ts'
import { scanLinksOfWorkspace } from './scan-links-of-workspace.ts'
import { REPAIR_MAX, type RepairDestinationInput, type RepairResource } from './schema.ts'

/** @throws Failure `invalid`; `not_found` for a link of `linkIds`; with `errors` by the id of a link that cannot change */
export async function repairDestination(
  needs: LinkNeeds,
  actor: Actor,
  input: RepairDestinationInput,
): Promise<RepairResource> {
  allow(actor, 'links:write')
  // A link's destination may have been blocked since, or may be a short domain.
  const before = checkUrl(input.from, { schemes: needs.site.schemes })
  if ('wrong' in before) throw invalid({ from: before.wrong })
  const after = checkUrl(input.to, needs.site)
  if ('wrong' in after) throw invalid({ to: after.wrong })
  const [from, to] = [before.href, after.href]
  if (from === to) throw invalid({ to: 'must differ from from' })
  const named = input.linkIds && [...new Set(input.linkIds)]
  if (named) await requireLinks(needs.db, actor, named)
  const found = await findLinksWith(needs.db, actor, { from, to }, named ?? undefined)
  const taken = found.slice(0, REPAIR_MAX)
  const changed = await changeLinks(needs, actor, taken, { from, to })
  return { ids: changed, left: found.length - taken.length }
}

interface Replacement {
  from: string
  to: string
}

async function requireLinks(db: Database, { workspaceId }: Actor, ids: number[]): Promise<void> {
  const rows = await db.read
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  if (rows.length < ids.length) throw notFound('Link')
}

/** Also archived and expired links: they may return. */
async function findLinksWith(
  db: Database,
  { workspaceId }: Actor,
  { from, to }: Replacement,
  ids?: number[],
): Promise<number[]> {
  const named = ids && new Set(ids)
  const found: number[] = []
  for await (const link of scanLinksOfWorkspace(db.read, workspaceId, 'all'))
    if ((!named || named.has(link.id)) && replaceLinkUrl(link, from, to)) found.push(link.id)
  return found
}

async function changeLinks(
  needs: LinkNeeds,
  actor: Actor,
  ids: number[],
  { from, to }: Replacement,
): Promise<number[]> {
  if (ids.length === 0) return []
  const changed = new Set<number>()
  await needs.db.write(async (connection, onCommit) => {
    const nested = toNestedDatabase(needs.db, connection, onCommit)
    await runAllOrNothing(
      nested,
      ids.map((id) => [id, id]),
      (db, id) =>
        db.write(async (inner, onInnerCommit) => {
          const transaction = { ...needs, connection: inner, onCommit: onInnerCommit }
          // Another person may have changed the link since it was found.
          const input = replaceLinkUrl(await getLinkForUpdate(needs.db, inner, actor, id), from, to)
          if (input) changed.add(id)
          return updateLinkIn(transaction, actor, id, input ?? {}, { passwordHash: undefined })
        }),
    )
    const detail = {
      from: toPlace(from),
      to: toPlace(to),
      count: changed.size,
      ids: [...changed].map(String),
    }
    await recordAudit(connection, actor, { action: 'link.destination_repaired', detail }, needs.now())
  })
  return [...changed]
}

const PLACE_MAX = 200

/** Without the query and the fragment, which can have secrets. */
function toPlace(url: string): string {
  const parsed = parseUrl(url)
  return (parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : url).slice(0, PLACE_MAX)
}
