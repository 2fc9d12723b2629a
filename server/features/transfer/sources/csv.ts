// Reads any table of links: a CSV file, or a list of JSON objects. A mapping names the columns; columns with well-known
// names need none.

import type { FieldReader } from '../files/fields.ts'
import type { MappedField } from '../schema.ts'
import { type CsvMapping, checkMapping, findMapping, suggestMapping } from './csv-mapping.ts'
import { splitShortUrl, toSlug } from './short-url.ts'
import type { ImportSource, NewLink, ReadingOptions, SourceLink } from './source.ts'
import { NO_DESTINATION, readDomainName, toDeviceTargeting } from './source-link.ts'
import { towpath } from './towpath.ts'

export const csv: ImportSource = {
  name: 'csv',
  title: 'CSV',
  links: { lists: ['links', 'urls', 'data', 'items', 'results'], tables: [] },
  // With a mapping, any table can be a list of links. Our own export is none: read as CSV, it would lose passwords and rules.
  isLinkFile: (columns) => columns.length > 0 && !towpath.isLinkFile(columns),
  // Unknown, so true: two links whose slugs differ only in case must not become one.
  isCaseSensitive: true,
  suggestMapping,
  checkMapping,
  readLink,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const mapping = findMapping(fields.record, options.mapping)
  // '' for a field without a column, because no column has an empty name.
  const column = (field: MappedField) => mapping[field] ?? ''
  const text = (field: MappedField) => fields.text(column(field))
  // Other columns with ids only tell repeated rows: `1`, `2` and `3` are ids of the other tool.
  const externalId = fields.text('externalId')
  return {
    ...readShortUrl(fields, mapping),
    destinationUrl: fields.required(NO_DESTINATION, mapping.destinationUrl ?? 'destinationUrl'),
    sourceKey: text('externalId'),
    ...(externalId !== null && { own: { externalId } }),
    title: text('title'),
    comments: text('comments'),
    tags: fields.list(/[,;|]/, column('tags')),
    createdAt: fields.time(options, column('createdAt')),
    archived: fields.flag(column('archived')),
    startsAt: fields.time(options, column('startsAt')),
    expiresAt: fields.time(options, column('expiresAt')),
    expiredUrl: text('expiredUrl'),
    clickLimit: fields.number(column('clickLimit')),
    password: text('password'),
    deviceTargeting: toDeviceTargeting({
      ios: text('iosUrl'),
      android: text('androidUrl'),
      desktop: text('desktopUrl'),
    }),
    clicks: fields.number(column('clicks')),
  }
}

/** Reads the slug from its own column, or from the short URL. */
function readShortUrl(fields: FieldReader, mapping: CsvMapping): Pick<SourceLink, 'host' | 'slug'> {
  const column = { slug: mapping.slug ?? '', shortUrl: mapping.shortUrl ?? '', domain: mapping.domain ?? '' }
  const written = fields.text(column.shortUrl)
  const short = written === null ? null : splitShortUrl(written)
  if (written !== null && !short)
    fields.add(column.shortUrl, written, 'This is not a short URL. Write it as https://go.example/slug.')
  const host = readDomainName(fields, column.domain)
  const slug = fields.text(column.slug)
  const own = slug?.includes('://') ? splitShortUrl(slug) : null
  return {
    host: host ?? short?.host ?? own?.host ?? null,
    slug: (own ? own.slug : slug === null ? (short?.slug ?? null) : toSlug(slug)) || null,
  }
}
