// Reads links of Bitly: the lists of its API (https://dev.bitly.com/api-reference, getBitlinksByGroup), and its CSV reports,
// whose headers differ by report.

import { createColumnLookup, type FieldReader } from '../files/fields.ts'
import { type ShortUrl, splitShortUrl } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions, SourceLink } from './source.ts'
import { NO_DESTINATION } from './source-link.ts'

/** Bitly's own hosts, which cannot move to another server. */
const SHARED_HOSTS = ['bit.ly', 'j.mp', 'bitly.com', 'bitly.is']

const BITLINK = ['link', 'bitlink', 'Short Link', 'Bitly Link', 'Short URL', 'id']
const CUSTOM = ['custom_bitlinks', 'Custom Link', 'Custom Bitlink', 'Custom Links', 'Custom Back-half']
const DESTINATION = ['long_url', 'Long URL', 'Destination URL', 'Destination', 'Original URL']
const CREATED = [
  'created_at',
  'Date Created',
  'Created',
  'Created At',
  'Created Date',
  'Creation Date',
  'Created On',
]
const CLICKS = ['clicks', 'Total Clicks', 'Clicks', 'Total Engagements', 'Engagements', 'All Time Clicks']

const DELETED = ['is_deleted', 'deleted']

const NO_SHORT_URL = 'This is not a short URL. Write it as https://bit.ly/abc.'

export const bitly: ImportSource = {
  name: 'bitly',
  title: 'Bitly',
  links: { lists: ['links', 'bitlinks'], tables: [] },
  isLinkFile(columns) {
    const has = createColumnLookup(columns)
    // Click histories have a link and its destination too.
    if (has('date')) return false
    const hasBitlink = has('bitlink', 'link', 'Custom Link', 'Custom Bitlink', 'custom_bitlinks')
    return hasBitlink && has('long_url', 'Destination URL')
  },
  isCaseSensitive: true,
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink | null {
  // Links that are deleted in Bitly are skipped.
  if (fields.flag(...DELETED)) return null
  const written = fields.text(...BITLINK)
  const bitlink = written === null ? null : splitShortUrl(written)
  const custom = fields.list(/[\s,;|]+/, ...CUSTOM).map(splitShortUrl)
  if (written !== null && !bitlink) fields.add(BITLINK, written, NO_SHORT_URL)
  if (custom.includes(null)) fields.add(CUSTOM, fields.raw(...CUSTOM), NO_SHORT_URL)
  return {
    ...chooseSlugs(
      bitlink,
      custom.filter((url) => url !== null),
    ),
    sourceKey: bitlink && `${bitlink.host}/${bitlink.slug}`,
    destinationUrl: fields.required(NO_DESTINATION, ...DESTINATION),
    title: fields.text('title', 'Title', 'Link Title'),
    tags: fields.list(/[,;|]/, 'tags', 'Tags'),
    createdAt: fields.time(options, ...CREATED),
    archived: fields.flag('archived', 'Archived'),
    clicks: fields.number(...CLICKS),
  }
}

/**
 * Prefers slugs on the customer's own host, which can move here. Slugs on a shared host are used only if there is no other.
 */
function chooseSlugs(
  bitlink: ShortUrl | null,
  custom: ShortUrl[],
): Pick<SourceLink, 'host' | 'slug' | 'aliases' | 'left'> {
  // Custom slugs come first, because people have chosen them.
  const all = [...custom, ...(bitlink ? [bitlink] : [])].filter(({ slug }) => slug !== '')
  const chosen = all.find(({ host }) => !SHARED_HOSTS.includes(host)) ?? all[0]
  if (!chosen) return { host: bitlink?.host ?? null, slug: null, aliases: [], left: [] }
  const aliases = all.filter(({ host, slug }) => host === chosen.host && slug !== chosen.slug)
  const elsewhere = all.filter(({ host }) => host !== chosen.host && !SHARED_HOSTS.includes(host))
  return {
    host: chosen.host,
    slug: chosen.slug,
    aliases: [...new Set(aliases.map(({ slug }) => slug))],
    left: elsewhere.map(({ host, slug }) => `the short URL ${host}/${slug}`),
  }
}
