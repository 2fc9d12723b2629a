// Reads links of Short.io: the lists of its API (https://developers.short.io/reference/get_api-links), and CSV files with the
// same fields.

import { createColumnLookup, type FieldReader } from '../files/fields.ts'
import { splitShortUrl, toHost, toSlug } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions, SourceLink } from './source.ts'
import { LOST_PASSWORD, NO_DESTINATION, toDeviceTargeting } from './source-link.ts'

const STATUSES = [301, 302, 307, 308] as const

export const shortIo: ImportSource = {
  name: 'short.io',
  title: 'Short.io',
  links: { lists: ['links'], tables: [] },
  isLinkFile(columns) {
    const has = createColumnLookup(columns)
    return has('originalURL') && has('path', 'shortURL')
  },
  // Each domain in Short.io has its own setting.
  isCaseSensitive: true,
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink | null {
  const written = fields.text('secureShortURL', 'shortURL')
  const short = written === null ? null : splitShortUrl(written)
  const path = fields.text('path')
  const slug = path === null ? (short?.slug ?? '') : toSlug(path)
  // Short.io lists the root of a domain with the links, although it is a setting of the domain.
  if (slug === '' && short?.slug === '') return null
  const domain = fields.text('domain')
  const password = fields.text('password')
  const isLost = password === null && fields.flag('hasPassword')
  return {
    sourceKey: fields.text('idString', 'id'),
    host: short?.host ?? (domain === null ? null : toHost(domain)),
    slug: slug || null,
    destinationUrl: fields.required(NO_DESTINATION, 'originalURL'),
    title: fields.text('title'),
    tags: fields.list(/[,;|]/, 'tags'),
    createdAt: fields.time(options, 'createdAt'),
    archived: fields.flag('archived') || isLost,
    expiresAt: fields.time(options, 'expiresAt'),
    expiredUrl: fields.text('expiredURL'),
    clickLimit: fields.number('clicksLimit') || null,
    password,
    deviceTargeting: toDeviceTargeting({ ios: fields.text('iphoneURL'), android: fields.text('androidURL') }),
    redirectStatus: readStatus(fields),
    clicks: fields.number('clicks', 'humanClicks', 'totalClicks'),
    left: [...listLeft(fields), ...(isLost ? [LOST_PASSWORD] : [])],
  }
}

function readStatus(fields: FieldReader): SourceLink['redirectStatus'] {
  const status = fields.text('redirectType')
  return STATUSES.find((known) => String(known) === status) ?? null
}

function listLeft(fields: FieldReader): string[] {
  const split = fields.text('splitURL')
  return [
    ...(fields.flag('cloaking') ? ['cloaking'] : []),
    ...(split === null ? [] : [`a split test with ${split}`]),
  ]
}
