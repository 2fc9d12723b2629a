// Reads YOURLS: its tables `url` and `log` as an SQL dump or as CSV, the JSON of its API, and the CSV of a plugin. The formats:
// fixtures/yourls/README.md.

import { trimBoth } from '../../../lib/clean-text.ts'
import type { FieldReader } from '../files/fields.ts'
import { type ShortUrl, splitShortUrl } from './short-url.ts'
import type { ImportSource, NewClick, NewLink, ReadingOptions } from './source.ts'
import { readClickTime, toKnown } from './source-click.ts'
import { NO_DESTINATION } from './source-link.ts'

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
  readLink,
  readClick,
}

function readLink(fields: FieldReader, options: ReadingOptions): NewLink | null {
  // The JSON of phpMyAdmin has the rows of all tables in one list.
  if (fields.raw('url', 'target') === undefined) return null
  const name = readName(fields, 'keyword', 'shorturl', 'source')
  if (!name)
    fields.add(
      'keyword',
      fields.raw('keyword', 'shorturl', 'source'),
      'The link has no keyword. Write it here.',
    )
  const title = fields.text('title')
  return {
    ...name,
    destinationUrl: fields.required(NO_DESTINATION, 'url', 'target'),
    // phpMyAdmin writes NULL as text into its CSV.
    title: title === 'NULL' ? null : title,
    createdAt: fields.time(options, 'timestamp'),
    clicks: fields.number('clicks', 'hits'),
  }
}

function readClick(fields: FieldReader, options: ReadingOptions): NewClick | null {
  if (fields.raw('click_time') === undefined) return null
  const name = readName(fields, 'shorturl')
  // A click without a short URL.
  if (!name) return null
  return {
    ...name,
    at: readClickTime(fields, options, 'click_time'),
    address: fields.text('ip_address'),
    // `-` is a client without a user agent, so it is not a browser.
    userAgent: fields.text('user_agent'),
    referrer: toKnown(fields.text('referrer')),
    country: toKnown(fields.text('country_code')),
  }
}

/** The tables have only the keyword, the API has the short URL, and the plugin has `/keyword/`. */
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
