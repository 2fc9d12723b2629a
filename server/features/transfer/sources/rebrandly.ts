// Reads links of Rebrandly: the lists of its API (https://developers.rebrandly.com/docs/link-entity), and CSV files with the
// same fields.

import { createColumnLookup, type FieldReader } from '../files/fields.ts'
import { splitShortUrl, toHost, toSlug } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions } from './source.ts'
import { NO_DESTINATION, NO_DOMAIN } from './source-link.ts'

export const rebrandly: ImportSource = {
  name: 'rebrandly',
  title: 'Rebrandly',
  links: { lists: ['links'], tables: [] },
  isLinkFile(columns) {
    const has = createColumnLookup(columns)
    return has('slashtag') && has('destination', 'destinationUrl')
  },
  isCaseSensitive: true,
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const written = fields.text('shortUrl', 'Short URL', 'Branded Link')
  const short = written === null ? null : splitShortUrl(written)
  const slashtag = fields.text('slashtag')
  return {
    sourceKey: fields.text('id', 'Link ID'),
    host: readDomainName(fields) ?? short?.host ?? null,
    slug: (slashtag === null ? short?.slug : toSlug(slashtag)) || null,
    destinationUrl: fields.required(NO_DESTINATION, 'destination', 'Destination URL'),
    title: fields.text('title'),
    comments: fields.text('description', 'notes'),
    tags: fields.list(/[,;|]/, 'tags'),
    createdAt: fields.time(options, 'createdAt', 'Created', 'Creation Date', 'Date Created'),
    expiresAt: fields.time(options, 'expiredAt', 'expiresAt'),
    forwardQuery: fields.flag('forwardParameters'),
    clicks: fields.number('clicks', 'Total Clicks'),
  }
}

/** `{"id", "fullName"}` in JSON, a name in CSV. */
function readDomainName(fields: FieldReader): string | null {
  const domain = fields.raw('domain', 'domainName')
  const isReference = typeof domain === 'object' && domain !== null && 'fullName' in domain
  const name = isReference ? domain.fullName : domain
  if (typeof name !== 'string' || name.trim() === '') return null
  const host = toHost(name.trim())
  if (host === null) fields.add('domain', name, NO_DOMAIN)
  return host
}
