// Changing a link: absent fields stay, null clears, an empty change is no change.

import { hashPassword } from '../../lib/password.ts'
import { isUniqueViolation } from '../../storage/rows/errors.ts'
import type { Db, OnCommit } from '../../storage/rows/open.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import { conflict } from './conflict.ts'
import type { LinkNeeds } from './create.ts'
import { findLinkToChange } from './find.ts'
import { type LinkRow, linkResource } from './link.ts'
import { checkPeriod, checkReserved, ownDomain, searchText, settableColumns } from './rules.ts'
import type { LinkResource, UpdateLinkInput } from './schema.ts'
import { slugKey } from './slug.ts'
import { tagLink } from './tag-link.ts'

/** @throws Failure `not_found`, `conflict` (slug or external id), `invalid` */
export async function updateLink(
  needs: LinkNeeds,
  actor: Actor,
  id: number,
  input: UpdateLinkInput,
): Promise<LinkResource> {
  const passwordHash = await hashPassword(input.password)
  return needs.rows.write((db, onCommit) => updateLinkIn(needs, db, onCommit, actor, id, input, passwordHash))
}

/** The same inside a transaction that is already open. */
export async function updateLinkIn(
  { rows, cache, site, now }: LinkNeeds,
  db: Db,
  onCommit: OnCommit,
  actor: Actor,
  id: number,
  input: UpdateLinkInput,
  passwordHash: string | null | undefined,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const link = await findLinkToChange(rows, db, actor, id)
  if (Object.values(input).every((value) => value === undefined)) return linkResource(db, site, link)

  const domain = input.domain === undefined ? link.domain : ownDomain(site, input.domain)
  const slug = input.slug ?? link.slug
  if (slugKey(slug) !== link.slug_key || domain !== link.domain) checkReserved(site, domain, slug)
  const changed: LinkRow = {
    ...link,
    ...settableColumns(site, input, link.destination_url),
    domain,
    slug,
    slug_key: slugKey(slug),
    password_hash: passwordHash === undefined ? link.password_hash : passwordHash,
    updated_at: now(),
  }
  checkPeriod(changed.starts_at, changed.expires_at)
  // A limit set today counts the clicks of before; while one is set, redirects keep the count themselves.
  if (link.click_limit === null && changed.click_limit !== null) changed.clicks_used = link.clicks
  await store(db, actor, link, { ...changed, search_text: searchText(changed) })
  await tagLink(rows, db, actor, id, input, changed.updated_at)
  onCommit(() => {
    cache.forget(link.domain, link.slug)
    cache.forget(changed.domain, changed.slug)
  })
  return linkResource(db, site, changed)
}

async function store(db: Db, actor: Actor, before: LinkRow, after: LinkRow): Promise<void> {
  const changes = Object.fromEntries(
    Object.entries(after).filter(([column, value]) => before[column as keyof LinkRow] !== value),
  )
  try {
    await db
      .updateTable('links')
      // Its own: within one millisecond nothing else may have changed.
      .set({ ...changes, updated_at: after.updated_at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', before.id)
      .execute()
  } catch (error) {
    if (isUniqueViolation(error, { index: 'links_domain_slug', columns: ['domain', 'slug_key'] })) {
      throw conflict('Slug already in use')
    }
    if (isUniqueViolation(error)) throw conflict('External id already in use')
    throw error
  }
}
