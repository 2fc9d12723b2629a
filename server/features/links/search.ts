// The search of the list of links: the text that it looks in, and the condition of a text that a caller searches for.

import { domainToUnicode } from 'node:url'
import type { ExpressionBuilder } from 'kysely'
import { foldCase, foldMarks, isCleanText, percentDecode } from '../../lib/text.ts'
import { toAsciiHost } from '../../lib/web-url.ts'
import { containsFolded, startsWithText } from '../../storage/database/contains-text.ts'
import type { DatabaseEngine } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { LinkRow, Site } from './link.ts'
import { toStoredDomain } from './names/link-domain.ts'
import { findShorterSlugs } from './slug.ts'

/** The slug, the destination and the title, one a line, so that a search cannot match across two fields. */
export const toSearchText = (link: Pick<LinkRow, 'slug' | 'destination_url' | 'title'>) =>
  foldMarks(
    [link.slug, link.destination_url, toReadableUrl(link.destination_url), link.title ?? ''].join('\n'),
  )

/** The URL as people type it into a search, without its encodings; '' when it has none. */
function toReadableUrl(href: string): string {
  const { hostname } = new URL(href)
  try {
    const decoded = decodeURI(href.replace(hostname, domainToUnicode(hostname)))
    return decoded === href || !isCleanText(decoded) ? '' : decoded
  } catch (error) {
    // A URL may contain a "%" that encodes nothing.
    if (error instanceof URIError) return ''
    throw error
  }
}

/** A short URL: with its scheme as people paste it, or without as they type it. */
const SHORT_URL = /^[\s<("'“„«‹‘`]*(https?:\/\/)?([^\s/?#]+)(?:\/([^?#]*))?/i

/** The stored domain, and beginnings of the search text; undefined for a text that is no short URL. */
function parseShortUrl(site: Pick<Site, 'domain' | 'names'>, text: string) {
  const [, scheme, host, path] = SHORT_URL.exec(text) ?? []
  if (host === undefined || (scheme === undefined && path === undefined)) return undefined
  const typed = host.toLowerCase().replace(/\.?(:\d+)?$/, '')
  const name = toAsciiHost(typed) || typed
  const domain = site.names.has(name) ? '' : toStoredDomain(site, host)
  if (domain === null) return undefined
  const slug = percentDecode(path ?? '')
    .trim()
    .replace(/[/+]$/, '')
  // Matches the typed text as the beginning of a slug. The slug is the first line of the search text.
  if (scheme === undefined || slug === '') return { domain, starts: [slug] }
  return { domain, starts: [slug, ...findShorterSlugs(slug)].map((each) => `${each}\n`) }
}

/** Matches a part of the slug, the destination or the title, and a short URL with its domain. */
export function matchesSearch(
  { engine, site }: { engine: DatabaseEngine; site: Site },
  e: ExpressionBuilder<Tables, 'links'>,
  search: string,
) {
  const short = parseShortUrl(site, search)
  const condition = containsFolded(engine, 'search_text', search)
  if (!short) return condition
  const starts = [...new Set(short.starts.flatMap((start) => [foldMarks(start), foldCase(start)]))]
  const isShort = e.and([
    e('domain', '=', short.domain),
    e.or(starts.map((start) => startsWithText(engine, 'search_text', start))),
  ])
  return e.or([condition, isShort])
}
