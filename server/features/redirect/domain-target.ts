// The fallback targets of a workspace's domain: for its root, for unknown links, and for links that are over.

import { parseUrl } from '../../lib/web-url.ts'
import type { Site } from '../links/link.ts'
import { SLUG_MAX } from '../links/slug.ts'

/**
 * The URL with the slug in place of `{slug}`.
 * @param slug as the visitor sent it, decoded; null for the root, which has none
 * @returns null without a URL, and for one that would be refused today: blocked by the operator, or on a short domain,
 * where it could redirect in a loop
 */
export function toDomainTarget(
  { isBlocked, isShortHost }: Pick<Site, 'isBlocked' | 'isShortHost'>,
  template: string | null,
  slug: string | null,
): string | null {
  if (template === null) return null
  const url = parseUrl(slug === null ? template : template.replaceAll('{slug}', () => encodeSlug(slug)))
  if (!url || !/^https?:$/.test(url.protocol) || isBlocked(url) || isShortHost(url.host)) return null
  return url.href
}

/** Strangers choose this text: it is cut at the longest length of a slug. */
const encodeSlug = (slug: string) =>
  encodeURIComponent(
    Array.from(slug.slice(0, SLUG_MAX * 2))
      .slice(0, SLUG_MAX)
      .join('')
      .toWellFormed(),
  )
