// Reads links of Sink: the JSON that its dashboard exports (miantiao-me/Sink, shared/schemas/link.ts, ExportData).

import type { FieldReader } from '../files/fields.ts'
import { toSlug } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions } from './source.ts'
import { LOST_PASSWORD, NO_DESTINATION, toDeviceTargeting } from './source-link.ts'

/** Its exports have a hash of the password, or its last letters (shared/utils/link-password.ts). */
const PROTECTED_PASSWORD = /^(?:sink-pwd:v1:|__SINK_MASKED__)/

export const sink: ImportSource = {
  name: 'sink',
  title: 'Sink',
  links: { lists: ['links'], tables: [] },
  isLinkFile: (columns) => ['url', 'slug', 'createdAt', 'updatedAt'].every((name) => columns.includes(name)),
  // A setting of its server decides. If it ignores case, no two slugs differ only in case.
  isCaseSensitive: true,
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const password = fields.text('password')
  const isLost = password !== null && PROTECTED_PASSWORD.test(password)
  const image = fields.text('image')
  const hasImage = image?.startsWith('https://') ?? false
  const description = fields.text('description')
  const title = fields.text('title')
  const slug = fields.text('slug')
  return {
    sourceKey: fields.text('id'),
    slug: slug === null ? null : toSlug(slug) || null,
    destinationUrl: fields.required(NO_DESTINATION, 'url'),
    title,
    comments: fields.text('comment'),
    tags: fields.list(',', 'tags'),
    createdAt: fields.time(options, 'createdAt'),
    archived: isLost,
    expiresAt: fields.time(options, 'expiration'),
    password: isLost ? null : password,
    geoTargeting: readCountries(fields),
    deviceTargeting: toDeviceTargeting({ ios: fields.text('apple'), android: fields.text('google') }),
    forwardQuery: fields.flag('redirectWithQuery'),
    // Sink has one title for the team and the card.
    previewTitle: description !== null || image !== null ? title : null,
    previewDescription: description,
    previewImage: hasImage ? image : null,
    left: [
      ...(fields.flag('cloaking') ? ['cloaking'] : []),
      ...(fields.flag('unsafe') ? ['a warning page before the redirect'] : []),
      ...(image !== null && !hasImage ? ['the picture of the card, which is on the old server'] : []),
      ...(isLost ? [LOST_PASSWORD] : []),
    ],
  }
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
