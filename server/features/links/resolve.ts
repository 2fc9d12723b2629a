// Finds the link of a slug for redirects: in the cache, else with one indexed query.

import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { type CachedLink, type LinkCache, toCachedLink } from './cache.ts'
import { isPossibleSlug, toSlugKey } from './slug.ts'

// A slow database must not stop redirects of links that the cache knows.
const READ_TIMEOUT_MS = 250

/**
 * @returns the link, or null when no link has the slug. A cached link comes without a promise.
 * This is the only query of links without a workspace, because a visitor knows only the slug.
 */
export function resolveLink(
  { db, cache }: { db: Database; cache: LinkCache },
  domain: string,
  slug: string,
): CachedLink | null | Promise<CachedLink | null> {
  // Strangers must not reach the cache and the database with texts that no link can have.
  if (!isPossibleSlug(slug)) return null
  const key = toSlugKey(slug)
  const cached = cache.get(domain, key)
  if (cached !== undefined) return cached
  const expired = cache.lastKnown(domain, key)
  const read = cache.read(domain, key, () => readLink(db, domain, key))
  return expired === undefined ? read : withFallback(read, expired)
}

/** @returns the expired link when the database fails or takes longer than READ_TIMEOUT_MS */
function withFallback(read: Promise<CachedLink | null>, expired: CachedLink) {
  const readOrExpired = read.catch((error) => {
    log.warn('link_not_read_again', describeError(error))
    return expired
  })
  return Promise.race([readOrExpired, Bun.sleep(READ_TIMEOUT_MS).then(() => expired)])
}

async function readLink(db: Database, domain: string, key: string): Promise<CachedLink | null> {
  const row = await selectCachedLinks(db)
    .where('links.domain', '=', domain)
    .where('links.slug_key', '=', key)
    .executeTakeFirst()
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
