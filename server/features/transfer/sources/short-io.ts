// Reads links of Short.io: what its API lists (https://developers.short.io/reference/get_api-links), and CSV files with the
// same fields.

import { FieldReader, toPlainName } from '../files/fields.ts'
import { splitShortUrl, toHost, toSlug } from './short-url.ts'
import type { ImportSource, ReadingOptions, SourceLink } from './source.ts'
import { createSourceLink, LOST_PASSWORD } from './source-link.ts'

const STATUSES = [301, 302, 307, 308] as const

export const shortIo: ImportSource = {
  name: 'short.io',
  title: 'Short.io',
  links: { lists: ['links'], tables: [] },
  isLinkFile(columns) {
    const plain = new Set(columns.map(toPlainName))
    return plain.has('originalurl') && (plain.has('path') || plain.has('shorturl'))
  },
  // A domain there can be either.
  isCaseSensitive: true,
  toLink(record, options) {
    const fields = new FieldReader(record)
    if (record.problem) return { problems: fields.problems }
    return readLink(fields, options)
  },
}

function readLink(fields: FieldReader, options: ReadingOptions) {
  const written = fields.text('secureShortURL', 'shortURL')
  const short = written === null ? null : splitShortUrl(written)
  const path = fields.text('path')
  const slug = path === null ? (short?.slug ?? '') : toSlug(path)
  // The root of a domain is a setting of the domain there, and is listed with the links.
  if (slug === '' && short?.slug === '') return null
  const domain = fields.text('domain')
  const password = fields.text('password')
  const isLost = password === null && fields.flag('hasPassword')
  return fields.result(
    createSourceLink({
      sourceKey: fields.text('idString', 'id'),
      host: short?.host ?? (domain === null ? null : toHost(domain)),
      slug: slug || null,
      destinationUrl: fields.required(
        'The destination is missing. Write the URL that the link leads to.',
        'originalURL',
      ),
      title: fields.text('title'),
      tags: fields.list(/[,;|]/, 'tags'),
      createdAt: fields.time(options, 'createdAt'),
      archived: fields.flag('archived') || isLost,
      expiresAt: fields.time(options, 'expiresAt'),
      expiredUrl: fields.text('expiredURL'),
      clickLimit: fields.number('clicksLimit') || null,
      password,
      deviceTargeting: readDevices(fields),
      redirectStatus: readStatus(fields),
      clicks: fields.number('clicks', 'humanClicks', 'totalClicks'),
      left: [...listLeft(fields), ...(isLost ? [LOST_PASSWORD] : [])],
    }),
  )
}

function readDevices(fields: FieldReader): SourceLink['deviceTargeting'] {
  const [ios, android] = [fields.text('iphoneURL'), fields.text('androidURL')]
  return { ...(ios && { ios }), ...(android && { android }) }
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
