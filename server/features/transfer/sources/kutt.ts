// Kutt: the JSON of its API, and its table of links. It exports no single clicks. The formats: fixtures/kutt/README.md.

import { FieldReader } from '../files/fields.ts'
import type { FileRecord } from '../files/source-file.ts'
import { readDomainName } from './read-domain-name.ts'
import { toHost } from './short-url.ts'
import type { ImportSource, Reading, ReadingOptions, SourceLink } from './source.ts'
import { createSourceLink, LOST_PASSWORD } from './source-link.ts'

export const kutt: ImportSource = {
  name: 'kutt',
  title: 'Kutt',
  links: { lists: ['data', 'list', 'links'], tables: ['links'] },
  // Its random addresses mix cases, and PostgreSQL and SQLite tell them apart.
  isCaseSensitive: true,
  isLinkFile: (columns) => ['address', 'target', 'visit_count'].every((column) => columns.includes(column)),
  toLink,
}

function toLink(record: FileRecord, options: ReadingOptions): Reading<SourceLink> {
  const fields = new FieldReader(record)
  const address = fields.required('The link has no address. Write its slug here.', 'address')
  const isBanned = fields.flag('banned')
  const isProtected = readIsProtected(fields)
  const link = createSourceLink({
    sourceKey: readId(fields, address),
    host: readDomainName(fields, 'domain') ?? readLinkHost(fields),
    slug: address,
    destinationUrl: fields.required('The link has no destination. Write its URL here.', 'target'),
    comments: fields.text('description'),
    createdAt: fields.time(options, 'created_at'),
    // Nobody may reach what was protected or banned until somebody has decided it.
    archived: isBanned || isProtected,
    expiresAt: fields.time(options, 'expire_in'),
    clicks: fields.number('visit_count'),
    left: [
      ...(isProtected ? [LOST_PASSWORD] : []),
      ...(isBanned ? ['being banned: it is archived here'] : []),
    ],
  })
  return fields.result(link)
}

/** The first API had the address as the id. The table has a number, and the id of the API as `uuid`. */
function readId(fields: FieldReader, address: string): string | null {
  const id = fields.text('uuid', 'id')
  return id === address ? null : id
}

/** The API says true or false, the table has a hash. */
function readIsProtected(fields: FieldReader): boolean {
  const password = fields.raw('password')
  return typeof password === 'string' && password.startsWith('$2') ? true : fields.flag('password')
}

/** A URL; an object with one in the list of administrators. */
function readLinkHost(fields: FieldReader): string | null {
  const link = fields.raw('link', 'shortLink', 'shortUrl')
  const url = typeof link === 'object' && link !== null && 'url' in link ? link.url : link
  return typeof url === 'string' ? toHost(url) : null
}
