// Reads links of Sink: the JSON that its dashboard exports (miantiao-me/Sink, shared/schemas/link.ts, ExportData).

import { type FieldReader, readRecord } from '../files/fields.ts'
import { toSlug } from './short-url.ts'
import type { ImportSource, ReadingOptions, SourceLink } from './source.ts'
import { createSourceLink, LOST_PASSWORD } from './source-link.ts'

/** Its exports have a hash of the password, or its last letters (shared/utils/link-password.ts). */
const PROTECTED_PASSWORD = /^(?:sink-pwd:v1:|__SINK_MASKED__)/

export const sink: ImportSource = {
  name: 'sink',
  title: 'Sink',
  links: { lists: ['links'], tables: [] },
  isLinkFile: (columns) => ['url', 'slug', 'createdAt', 'updatedAt'].every((name) => columns.includes(name)),
  // A setting of the server decides. Where it folds case, no two slugs differ in case only.
  isCaseSensitive: true,
  toLink: (record, options) => readRecord(record, (fields) => readLink(fields, options)),
}

function readLink(fields: FieldReader, options: ReadingOptions): SourceLink {
  const password = fields.text('password')
  const isLost = password !== null && PROTECTED_PASSWORD.test(password)
  const image = fields.text('image')
  const hasImage = image?.startsWith('https://') ?? false
  const description = fields.text('description')
  const title = fields.text('title')
  const slug = fields.text('slug')
  return createSourceLink({
    sourceKey: fields.text('id'),
    slug: slug === null ? null : toSlug(slug) || null,
    destinationUrl: fields.required(
      'The destination is missing. Write the URL that the link leads to.',
      'url',
    ),
    title,
    comments: fields.text('comment'),
    tags: fields.list(',', 'tags'),
    createdAt: fields.time(options, 'createdAt'),
    archived: isLost,
    expiresAt: fields.time(options, 'expiration'),
    password: isLost ? null : password,
    geoTargeting: readCountries(fields),
    deviceTargeting: readDevices(fields),
    forwardQuery: fields.flag('redirectWithQuery'),
    // Its title is the team's, and that of the card where there is one.
    previewTitle: description !== null || image !== null ? title : null,
    previewDescription: description,
    previewImage: hasImage ? image : null,
    left: [
      ...(fields.flag('cloaking') ? ['cloaking'] : []),
      ...(fields.flag('unsafe') ? ['a warning page before the redirect'] : []),
      ...(image !== null && !hasImage ? ['the picture of the card, which is on the old server'] : []),
      ...(isLost ? [LOST_PASSWORD] : []),
    ],
  })
}

function readDevices(fields: FieldReader): SourceLink['deviceTargeting'] {
  const [ios, android] = [fields.text('apple'), fields.text('google')]
  return { ...(ios && { ios }), ...(android && { android }) }
}

/** `{"DE": "https://…"}` */
function readCountries(fields: FieldReader): Record<string, string> {
  const geo = fields.raw('geo')
  if (typeof geo !== 'object' || geo === null) return {}
  const countries: Record<string, string> = {}
  for (const [country, url] of Object.entries(geo)) {
    if (/^[a-z]{2}$/i.test(country) && typeof url === 'string') countries[country.toUpperCase()] = url
    else fields.add('geo', geo, 'This must be an object of country codes and URLs.')
  }
  return countries
}
