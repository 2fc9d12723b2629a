// Reads links of Kutt: the JSON of its API, and its table of links. Kutt does not export single clicks. The formats:
// fixtures/kutt/README.md.

import type { FieldReader } from '../files/fields.ts'
import { toHost } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions } from './source.ts'
import { LOST_PASSWORD, NO_DESTINATION, readDomainName } from './source-link.ts'

export const kutt: ImportSource = {
  name: 'kutt',
  title: 'Kutt',
  links: { lists: ['data', 'list', 'links'], tables: ['links'] },
  // Its random addresses mix cases, and its databases compare them with case.
  isCaseSensitive: true,
  isLinkFile: (columns) => ['address', 'target', 'visit_count'].every((column) => columns.includes(column)),
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const address = fields.required('The link has no address. Write its slug here.', 'address')
  const isBanned = fields.flag('banned')
  const isProtected = readIsProtected(fields)
  return {
    sourceKey: readId(fields, address),
    host: readDomainName(fields, 'domain') ?? readLinkHost(fields),
    slug: address,
    destinationUrl: fields.required(NO_DESTINATION, 'target'),
    comments: fields.text('description'),
    createdAt: fields.time(options, 'created_at'),
    // Protected and banned links are imported as archived, until a person opens them.
    archived: isBanned || isProtected,
    expiresAt: fields.time(options, 'expire_in'),
    clicks: fields.number('visit_count'),
    left: [
      ...(isProtected ? [LOST_PASSWORD] : []),
      ...(isBanned ? ['being banned: it is archived here'] : []),
    ],
  }
}

/** The first API used the address as id. The table has a number, and the API's id as `uuid`. */
function readId(fields: FieldReader, address: string): string | null {
  const id = fields.text('uuid', 'id')
  return id === address ? null : id
}

/** The API has true or false, the table a hash. */
function readIsProtected(fields: FieldReader): boolean {
  const password = fields.raw('password')
  return typeof password === 'string' && password.startsWith('$2') ? true : fields.flag('password')
}

/** Reads the host of the link's URL, which is in an object in the list for administrators. */
function readLinkHost(fields: FieldReader): string | null {
  const link = fields.raw('link', 'shortLink', 'shortUrl')
  const url = typeof link === 'object' && link !== null && 'url' in link ? link.url : link
  return typeof url === 'string' ? toHost(url) : null
}
