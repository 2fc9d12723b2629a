// Changes a link: an absent field keeps its value, null clears it, and an empty change does nothing.

import { hashPassword } from '../../lib/crypto/password.ts'
import { isUniqueViolation } from '../../storage/database/errors.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { type Actor, allow, hasScopes } from '../accounts/access/actor.ts'
import { announceLink } from './announce-link.ts'
import { linkConflict } from './conflict.ts'
import { type LinkNeeds, type LinkTransaction, toSlugColumns } from './create.ts'
import { getLinkForUpdate } from './get.ts'
import { type LinkRow, toDomainName, toLinkResource } from './link.ts'
import { findLinkDomain, resolveDomain } from './names/link-domain.ts'
import {
  checkPeriod,
  checkReserved,
  refusePastEnd,
  refuseSuspendedLink,
  toLinkColumns,
  toSplitColumns,
} from './rules.ts'
import type { LinkResource, UpdateLinkInput } from './schema.ts'
import { toSearchText } from './search.ts'
import { setLinkTags } from './set-link-tags.ts'
import { requireVersion, toNextVersion } from './version.ts'

interface UpdateOptions {
  passwordHash: string | null | undefined
  /** The header of the request: the change is refused when another person has changed the link since. */
  ifMatch?: string
  /** Restores the link's previous values, even an end in the past. */
  isUndo?: boolean
}

/**
 * @throws Failure `not_found`, `conflict` (slug or external id), `invalid`; `forbidden` for a suspended link's slug;
 * `changed_since` where `ifMatch` names an older version
 */
export async function updateLink(
  needs: LinkNeeds,
  actor: Actor,
  id: number,
  input: UpdateLinkInput,
  ifMatch?: string,
): Promise<LinkResource> {
  const passwordHash = await hashPassword(input.password, 'links')
  return needs.db.write((connection, onCommit) =>
    updateLinkIn({ ...needs, connection, onCommit }, actor, id, input, { passwordHash, ifMatch }),
  )
}

/** Does the same inside an open transaction. */
export async function updateLinkIn(
  transaction: LinkTransaction,
  actor: Actor,
  id: number,
  input: UpdateLinkInput,
  { passwordHash, ifMatch, isUndo = false }: UpdateOptions,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const { db, connection, onCommit, site, now } = transaction
  const link = await getLinkForUpdate(db, connection, actor, id)
  requireVersion(link, ifMatch)
  if (Object.values(input).every((value) => value === undefined))
    return toLinkResource(connection, site, link)

  const name = await toSlugColumnsOf(transaction, actor, link, input)
  if (name.slug_key !== link.slug_key || name.domain !== link.domain) {
    refuseSuspendedLink(link)
    checkReserved(site, name.domain, name.slug)
    if (name.domain !== link.domain) await requireFreeSlug(transaction, actor, name)
  }
  const changed: LinkRow = {
    ...link,
    ...toLinkColumns(site, input, link.destination_url),
    ...name,
    password_hash: passwordHash === undefined ? link.password_hash : passwordHash,
    updated_at: toNextVersion(link, now()),
  }
  checkPeriod(changed.starts_at, changed.expires_at)
  if (!isUndo && changed.expires_at !== link.expires_at) refusePastEnd(actor, changed.expires_at, now())
  Object.assign(changed, toSplitColumns(link, changed, now()))
  // A new limit includes earlier clicks. While a link has a limit, the redirects count `clicks_used`.
  if (link.click_limit === null && changed.click_limit !== null) changed.clicks_used = link.clicks
  await storeChanges(connection, actor, link, { ...changed, search_text: toSearchText(changed) })
  await setLinkTags(transaction, actor, id, input, changed.updated_at)
  for (const { domain, slug_key: slugKey } of [link, changed]) recordChange(onCommit, { domain, slugKey })
  const resource = await toLinkResource(connection, site, changed)
  const event = { workspaceId: actor.workspaceId, event: 'link.updated', at: changed.updated_at } as const
  await announceLink(transaction, event, () => resource)
  return resource
}

/** A link that moves keeps its slug. The new domain may tell its case apart, or not. */
async function toSlugColumnsOf(
  { db, connection, site }: LinkTransaction,
  actor: Actor,
  link: LinkRow,
  input: UpdateLinkInput,
) {
  if (input.domain === undefined && input.slug === undefined)
    return { domain: link.domain, slug: link.slug, slug_key: link.slug_key }
  const domain =
    input.domain === undefined
      ? await findLinkDomain(connection, actor, link.domain)
      : await resolveDomain({ connection, site, lockOn: db.engine }, actor, input.domain)
  return toSlugColumns(domain, input.slug ?? link.slug)
}

/**
 * Names the link that has the slug on the domain that another link moves to: where only one of the two domains tells case
 * apart, its slug may look different. The index decides all the same.
 * @throws Failure `conflict`
 */
async function requireFreeSlug(
  { connection, site }: LinkTransaction,
  actor: Actor,
  name: Pick<LinkRow, 'domain' | 'slug' | 'slug_key'>,
): Promise<void> {
  const holder = await connection
    .selectFrom('links')
    .select(['id', 'slug', 'deleted_at'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('domain', '=', name.domain)
    .where('slug_key', '=', name.slug_key)
    .where('purged_at', 'is', null)
    .executeTakeFirst()
  if (!holder) return
  if (!hasScopes(actor, 'links:read')) throw linkConflict('Slug already in use')
  const which = `link ${holder.id}${holder.deleted_at === null ? '' : ' in the trash'}`
  const taken = `${which} has "${holder.slug}" on ${toDomainName(site, name.domain)}`
  throw linkConflict('Slug already in use', { slug: taken })
}

async function storeChanges(
  connection: Connection,
  actor: Actor,
  before: LinkRow,
  after: LinkRow,
): Promise<void> {
  const changes = Object.fromEntries(
    Object.entries(after).filter(([column, value]) => before[column as keyof LinkRow] !== value),
  )
  try {
    await connection
      .updateTable('links')
      .set(changes)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', before.id)
      .execute()
  } catch (error) {
    if (isUniqueViolation(error, { index: 'links_domain_slug', columns: ['domain', 'slug_key'] })) {
      throw linkConflict('Slug already in use')
    }
    if (isUniqueViolation(error)) throw linkConflict('External id already in use')
    throw error
  }
}
