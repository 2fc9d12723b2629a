// From a slug to its link, for redirects: memory first, else one indexed question.

import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { type CachedLink, type LinkCache, toCachedLink } from './cache.ts'
import { SLUG_MAX, toSlugKey } from './slug.ts'

// Before composition (NFD) a letter can take four places.
const LOOKUP_MAX = SLUG_MAX * 4

// A store that is slow or away must not stop the links that memory knows.
const READ_TIMEOUT_MS = 250

/**
 * @returns the link, or null where there is none: at once when memory knows, else a promise.
 * The only question about links that names no workspace: the slug is what is public.
 */
export function resolveLink(
  { db, cache }: { db: Database; cache: LinkCache },
  domain: string,
  slug: string,
): CachedLink | null | Promise<CachedLink | null> {
  // Longer can not exist, and must not fill the cache.
  if (slug.length > LOOKUP_MAX) return null
  const key = toSlugKey(slug)
  const known = cache.get(domain, key)
  if (known !== undefined) return known
  const last = cache.lastKnown(domain, key)
  const read = readLink({ db, cache }, domain, key)
  return last === undefined ? read : withFallback(read, last)
}

function withFallback(read: Promise<CachedLink | null>, last: CachedLink) {
  const answered = read.catch((error) => {
    log.warn('link_not_read_again', describeError(error))
    return last
  })
  return Promise.race([answered, Bun.sleep(READ_TIMEOUT_MS).then(() => last)])
}

async function readLink({ db, cache }: { db: Database; cache: LinkCache }, domain: string, key: string) {
  const readAt = cache.version()
  const row = key.includes('\0')
    ? undefined
    : await db.read
        .selectFrom('links')
        .selectAll()
        .where('domain', '=', domain)
        .where('slug_key', '=', key)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
  const link = row ? toCachedLink(row) : null
  cache.set(domain, key, link, readAt)
  return link
}
