// From a slug to its link, for redirects: memory first, else one indexed question.

import type { Rows } from '../../storage/rows/open.ts'
import { type CachedLink, type LinkCache, toCachedLink } from './cache.ts'
import { SLUG_MAX, slugKey } from './slug.ts'

/**
 * @returns the link, or null where there is none: at once when memory knows, else a promise.
 * The only question about links that names no workspace: the slug is what is public.
 */
export function resolveLink(
  { rows, cache }: { rows: Rows; cache: LinkCache },
  domain: string,
  slug: string,
): CachedLink | null | Promise<CachedLink | null> {
  // Longer can not exist, and must not fill the cache.
  if (slug.length > SLUG_MAX * 2) return null
  const key = slugKey(slug)
  const known = cache.get(domain, key)
  if (known !== undefined) return known
  return readLink({ rows, cache }, domain, key)
}

async function readLink({ rows, cache }: { rows: Rows; cache: LinkCache }, domain: string, key: string) {
  const readAt = cache.readAt()
  const row = key.includes('\0')
    ? undefined
    : await rows.read
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
