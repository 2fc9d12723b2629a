// YOURLS: its tables `url` and `log` as an SQL dump or as CSV, the JSON of its API, and the CSV of a plugin. The formats:
// fixtures/yourls/README.md.

import { trimBoth } from '../../../lib/clean-text.ts'
import { FieldReader } from '../files/fields.ts'
import type { FileRecord } from '../files/source-file.ts'
import { type ShortUrl, splitShortUrl } from './short-url.ts'
import type { ImportSource, Reading, ReadingOptions, SourceClick, SourceLink } from './source.ts'
import { createSourceClick, readClickTime, toKnown } from './source-click.ts'
import { createSourceLink } from './source-link.ts'

/** The columns of the plugin Import Export. */
const PLUGIN_COLUMNS = ['source', 'target', 'hits']

export const yourls: ImportSource = {
  name: 'yourls',
  title: 'YOURLS',
  links: { lists: ['links', 'result', 'data'], tables: ['url'] },
  clicks: { lists: ['data'], tables: ['log'] },
  // Its tables compare keywords as bytes (utf8mb4_bin).
  isCaseSensitive: true,
  isLinkFile: (columns) =>
    (columns.includes('url') &&
      columns.includes('timestamp') &&
      (columns.includes('keyword') || columns.includes('shorturl'))) ||
    (columns.length === PLUGIN_COLUMNS.length && PLUGIN_COLUMNS.every((column) => columns.includes(column))),
  isClickFile: (columns) => columns.includes('click_time') && columns.includes('shorturl'),
  toLink,
  toClick,
}

function toLink(record: FileRecord, options: ReadingOptions): Reading<SourceLink> {
  const fields = new FieldReader(record)
  // The JSON of phpMyAdmin has the rows of all tables under one name.
  if (!record.problem && fields.raw('url', 'target') === undefined) return null
  const name = readName(fields, 'keyword', 'shorturl', 'source')
  if (!name)
    fields.add(
      'keyword',
      fields.raw('keyword', 'shorturl', 'source'),
      'The link has no keyword. Write it here.',
    )
  const title = fields.text('title')
  const link = createSourceLink({
    ...name,
    destinationUrl: fields.required('The link has no destination. Write its URL here.', 'url', 'target'),
    // phpMyAdmin writes NULL into its CSV.
    title: title === 'NULL' ? null : title,
    createdAt: fields.time(options, 'timestamp'),
    clicks: fields.number('clicks', 'hits'),
  })
  return fields.result(link)
}

function toClick(record: FileRecord, options: ReadingOptions): Reading<SourceClick> {
  const fields = new FieldReader(record)
  if (!record.problem && fields.raw('click_time') === undefined) return null
  const name = readName(fields, 'shorturl')
  // A click of no short URL.
  if (!name && !record.problem) return null
  const click = createSourceClick({
    ...name,
    at: readClickTime(fields, options, 'click_time'),
    address: fields.text('ip_address'),
    // `-` is a client without a user agent, which no browser is.
    userAgent: fields.text('user_agent'),
    referrer: toKnown(fields.text('referrer')),
    country: toKnown(fields.text('country_code')),
  })
  return fields.result(click)
}

/** The tables have the keyword alone, the API has the short URL, and the plugin has `/keyword/`. */
function readName(fields: FieldReader, ...names: string[]): Partial<ShortUrl> | null {
  const text = fields.text(...names)
  if (text === null) return null
  if (/^https?:\/\//i.test(text)) {
    const shortUrl = splitShortUrl(text)
    return shortUrl && shortUrl.slug !== '' ? shortUrl : null
  }
  const slug = trimBoth(text, '/')
  return slug === '' ? null : { slug }
}
