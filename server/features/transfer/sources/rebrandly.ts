// Reads links of Rebrandly: what its API lists (https://developers.rebrandly.com/docs/link-entity), and CSV files with the
// same fields.

import { type FieldReader, readRecord, toPlainName } from '../files/fields.ts'
import { splitShortUrl, toHost, toSlug } from './short-url.ts'
import type { ImportSource, ReadingOptions, SourceLink } from './source.ts'
import { createSourceLink } from './source-link.ts'

export const rebrandly: ImportSource = {
  name: 'rebrandly',
  title: 'Rebrandly',
  links: { lists: ['links'], tables: [] },
  isLinkFile(columns) {
    const plain = new Set(columns.map(toPlainName))
    return plain.has('slashtag') && (plain.has('destination') || plain.has('destinationurl'))
  },
  isCaseSensitive: true,
  toLink: (record, options) => readRecord(record, (fields) => readLink(fields, options)),
}

function readLink(fields: FieldReader, options: ReadingOptions): SourceLink {
  const written = fields.text('shortUrl', 'Short URL', 'Branded Link')
  const short = written === null ? null : splitShortUrl(written)
  const slashtag = fields.text('slashtag')
  return createSourceLink({
    sourceKey: fields.text('id', 'Link ID'),
    host: readDomainName(fields) ?? short?.host ?? null,
    slug: (slashtag === null ? short?.slug : toSlug(slashtag)) || null,
    destinationUrl: fields.required(
      'The destination is missing. Write the URL that the link leads to.',
      'destination',
      'Destination URL',
    ),
    title: fields.text('title'),
    comments: fields.text('description', 'notes'),
    tags: fields.list(/[,;|]/, 'tags'),
    createdAt: fields.time(options, 'createdAt', 'Created', 'Creation Date', 'Date Created'),
    expiresAt: fields.time(options, 'expiredAt', 'expiresAt'),
    forwardQuery: fields.flag('forwardParameters'),
    clicks: fields.number('clicks', 'Total Clicks'),
  })
}

/** `{"id", "fullName"}` in JSON, a name in CSV. */
function readDomainName(fields: FieldReader): string | null {
  const domain = fields.raw('domain', 'domainName')
  const isReference = typeof domain === 'object' && domain !== null && 'fullName' in domain
  const name = isReference ? domain.fullName : domain
  if (typeof name !== 'string' || name.trim() === '') return null
  const host = toHost(name.trim())
  if (host === null) fields.add('domain', name, 'This is not a domain. Write it as go.example.')
  return host
}
