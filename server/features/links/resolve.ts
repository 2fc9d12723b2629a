// Finds the link of a slug for redirects: in the cache, else with one indexed query.

import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { type CachedLink, type LinkCache, toCachedLink } from './cache.ts'
import type { ShortDomain } from './names/domain-directory.ts'
import { isPossibleSlug, toSlugKey } from './slug.ts'

// A slow database must not stop redirects of cached links.
const READ_TIMEOUT_MS = 250

/**
 * @returns the link, or null when no link has the slug. A cached link comes without a promise.
 * On the default domain, this is the only query of links without a workspace: a visitor knows only the slug.
 */
export function resolveLink(
  { db, cache }: { db: Database; cache: LinkCache },
  domain: ShortDomain,
  slug: string,
): CachedLink | null | Promise<CachedLink | null> {
  // Strangers must not reach the cache and the database with impossible slugs.
  if (!isPossibleSlug(slug)) return null
  const { name } = domain
  const key = toSlugKey(slug, domain.caseSensitive)
  const cached = cache.get(name, key)
  if (cached === null || (cached && answersOn(domain, cached))) return cached
  const expired = cache.lastKnown(name, key)
  const found = cache.read(name, key, () => readLink(db, domain, key))
  const read = found.then((link) => (link && answersOn(domain, link) ? link : null))
  return expired && answersOn(domain, expired) ? withFallback(read, expired) : read
}

/** A cache, and a read that requests share, may have the link of a workspace that had the domain before. */
export const answersOn = ({ workspaceId }: ShortDomain, link: CachedLink) =>
  workspaceId === null || workspaceId === link.workspaceId

/** @returns the expired link when the database fails or takes longer than READ_TIMEOUT_MS */
function withFallback(read: Promise<CachedLink | null>, expired: CachedLink) {
  const readOrExpired = read.catch((error) => {
    log.warn('link_not_read_again', describeError(error))
    return expired
  })
  return Promise.race([readOrExpired, Bun.sleep(READ_TIMEOUT_MS).then(() => expired)])
}

async function readLink(
  db: Database,
  { name, workspaceId }: ShortDomain,
  key: string,
): Promise<CachedLink | null> {
  const links = selectCachedLinks(db).where('links.domain', '=', name).where('links.slug_key', '=', key)
  const row = await (workspaceId === null
    ? links
    : links.where('links.workspace_id', '=', workspaceId)
  ).executeTakeFirst()
  return row ? toCachedLink(row) : null
}

/** The links that redirect, of all workspaces: a visitor knows only the slug. */
export const selectCachedLinks = (db: Database) =>
  db.read
    .selectFrom('links')
    .innerJoin('workspaces', 'workspaces.id', 'links.workspace_id')
    .selectAll('links')
    .select('workspaces.suspended_at as workspace_suspended_at')
    // The index on slugs has the links that are not purged.
    .where('links.purged_at', 'is', null)
    .where('links.deleted_at', 'is', null)
