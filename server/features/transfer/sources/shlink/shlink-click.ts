// A visit of Shlink: a row of the web client's CSV or of the command line's, or an object of the API.

import { FieldReader } from '../../files/fields.ts'
import type { FileRecord } from '../../files/source-file.ts'
import { readDomainName } from '../read-domain-name.ts'
import { type ShortUrl, splitShortUrl, toSlug } from '../short-url.ts'
import type { Reading, ReadingOptions, SourceClick } from '../source.ts'
import { createSourceClick, readClickTime, toKnown } from '../source-click.ts'

/** Types of visits that belong to no short URL. */
const ORPHANS = new Set(['invalid_short_url', 'base_url', 'regular_404'])
/** The path of the tracking pixel, after the short code. */
const PIXEL = /\/track$/

export function toShlinkClick(record: FileRecord, options: ReadingOptions): Reading<SourceClick> {
  const fields = new FieldReader(record)
  if (ORPHANS.has(fields.text('type') ?? '')) return null
  const visitedUrl = toKnown(fields.text('visitedUrl'))
  const shortUrl = readVisitedShortUrl(fields, visitedUrl)
  if (!shortUrl) fields.add('visitedUrl', visitedUrl, NO_SHORT_URL)
  const place = fields.inner('visitLocation') ?? fields
  const click = createSourceClick({
    ...shortUrl,
    at: readClickTime(fields, options, 'date'),
    userAgent: fields.text('userAgent'),
    referrer: toKnown(fields.text('referer')),
    country: toKnown(place.text('countryCode')) ?? toKnown(place.text('countryName', 'country')),
    region: toKnown(place.text('regionName', 'region')),
    city: toKnown(place.text('cityName', 'city')),
    browser: toKnown(fields.text('browser')),
    os: toKnown(fields.text('os')),
    bot: readBot(fields),
    visitedUrl,
    destinationUrl: toKnown(fields.text('redirectUrl')),
  })
  return fields.result(click)
}

const NO_SHORT_URL =
  'Shlink did not record the short URL of this visit: it does since version 4.1. Export visits by its API, and add shortUrl to each.'

/**
 * A column that a person's script has added comes first: the visited URL may have a base path, and old visits have none.
 */
function readVisitedShortUrl(fields: FieldReader, visitedUrl: string | null): Partial<ShortUrl> | null {
  const text = fields.text('shortUrl')
  const shortUrl = text === null ? null : splitShortUrl(text)
  const visited = visitedUrl === null ? null : splitShortUrl(visitedUrl)
  const host = readDomainName(fields, 'domain') ?? shortUrl?.host ?? visited?.host
  const code = fields.text('shortCode')
  const slug = code === null ? (shortUrl?.slug ?? visited?.slug.replace(PIXEL, '')) : toSlug(code)
  if (slug === undefined || slug === '') return null
  return { slug, ...(host !== undefined && { host }) }
}

/**
 * The command line writes `Potential bot` or nothing, everything else true or false. Where Shlink knew of no bot, the user
 * agent decides, as it does for live clicks.
 */
const readBot = (fields: FieldReader): true | null =>
  fields.raw('potentialBot') === 'Potential bot' || fields.flag('potentialBot') || null
