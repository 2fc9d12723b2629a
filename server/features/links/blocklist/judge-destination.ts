// Checks a link's destinations against the blocklist. A link is checked once for each version of the list, at its first
// redirect: the redirects after that compare one number.

import { parseUrl } from '../../../lib/web-url.ts'
import type { CachedLink } from '../cache.ts'
import type { Blocklist } from './blocklist.ts'

export type DestinationJudge = (link: CachedLink, destination: string) => boolean

/** @returns a function that is true for a blocked destination of a link */
export function createDestinationJudge({
  version,
  isBlocked,
}: Pick<Blocklist, 'version' | 'isBlocked'>): DestinationJudge {
  return (link, destination) => {
    const current = version()
    if (link.judgedBy !== current) {
      link.blockedUrls = listBlockedUrls(link, isBlocked)
      link.judgedBy = current
    }
    return link.blockedUrls?.includes(destination) ?? false
  }
}

function listBlockedUrls(link: CachedLink, isBlocked: Blocklist['isBlocked']): readonly string[] | null {
  const { destinationUrl, expiredUrl, geoTargeting, deviceTargeting, rules, split } = link
  const all = [
    destinationUrl,
    ...(expiredUrl === null ? [] : [expiredUrl]),
    ...Object.values(geoTargeting ?? {}),
    ...Object.values(deviceTargeting ?? {}),
    ...(rules?.rules ?? []).map(({ to }) => to),
    ...(split ?? []).map(({ url }) => url),
  ]
  const blocked = all.filter((text) => {
    const url = parseUrl(text)
    return url !== null && isBlocked(url)
  })
  return blocked.length > 0 ? blocked : null
}
