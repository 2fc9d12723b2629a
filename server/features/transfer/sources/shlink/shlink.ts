// Reads Shlink's exports: the CSV of its web client and of its command line, and the JSON of its API. The formats:
// fixtures/shlink/README.md.

import { createColumnLookup, type FieldReader } from '../../files/fields.ts'
import { type ShortUrl, splitShortUrl, toSlug } from '../short-url.ts'
import type { ImportSource, NewClick, NewLink, ReadingOptions, SourceLink } from '../source.ts'
import { readClickTime, toKnown } from '../source-click.ts'
import { NO_DESTINATION, readDomainName } from '../source-link.ts'
import { readRedirectRules } from './redirect-rules.ts'

export const shlink: ImportSource = {
  name: 'shlink',
  title: 'Shlink',
  links: { lists: ['data'], tables: [] },
  clicks: { lists: ['data'], tables: [] },
  // In the default mode `strict`. In the mode `loose` no two codes differ only in case.
  isCaseSensitive: true,
  isLinkFile(columns) {
    const has = createColumnLookup(columns)
    return (
      (has('shortCode') && has('longUrl', 'originalUrl')) ||
      (has('shortUrl') && has('longUrl') && has('visits'))
    )
  },
  isClickFile(columns) {
    const has = createColumnLookup(columns)
    if (!has('date') || !has('referer')) return false
    // The columns of the web client's first exports of visits.
    const isOld = ['date', 'referer', 'browser', 'os', 'city'].every((name) => columns.includes(name))
    return has('potentialBot') || has('visitLocation') || isOld
  },
  readLink,
  readClick,
}

/** A short URL of Shlink: a row of the web client's CSV, or an object of the API. */
function readLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const meta = readObject(fields, 'meta')
  const visits = readObject(fields, 'visitsSummary')
  const rules = readRedirectRules(fields)
  return {
    ...readName(fields),
    destinationUrl: fields.required(NO_DESTINATION, 'longUrl', 'originalUrl'),
    title: fields.text('title'),
    tags: readTags(fields),
    createdAt: fields.time(options, 'dateCreated', 'createdAt'),
    startsAt: meta?.time(options, 'validSince') ?? null,
    expiresAt: meta?.time(options, 'validUntil') ?? null,
    clickLimit: meta?.number('maxVisits') ?? null,
    rules: rules.rules,
    deviceTargeting: rules.deviceTargeting,
    // Shlink passes the query on by default. The CSV does not have this setting.
    forwardQuery: fields.raw('forwardQuery') === undefined || fields.flag('forwardQuery'),
    // Our count has only clicks of people.
    clicks: visits?.number('nonBots', 'total') ?? fields.number('visitsCount', 'visits'),
    left: [...rules.left, ...(fields.flag('crawlable') ? ['being shown to search engines'] : [])],
  }
}

/** PHP writes an object without properties as a list. */
function readObject(fields: FieldReader, name: string): FieldReader | null {
  const value = fields.raw(name)
  const inner = fields.inner(name)
  const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
  if (!inner && !isEmpty) fields.add(name, value, 'This must be an object. Export the file again.')
  return inner
}

/** The web client exports the code as in the URL, percent-encoded; the API exports it decoded. */
function readName(fields: FieldReader): Pick<SourceLink, 'host' | 'slug'> {
  const text = fields.text('shortUrl')
  const shortUrl = text === null ? null : splitShortUrl(text)
  const code = fields.text('shortCode')
  const slug = code === null ? (shortUrl?.slug ?? '') : toSlug(code)
  if (slug === '') fields.add('shortCode', code ?? text, 'The short URL has no short code. Write it here.')
  return { host: readDomainName(fields, 'domain') ?? shortUrl?.host ?? null, slug: slug === '' ? null : slug }
}

/** Tags are separated by `|` since 2023, by commas before. */
function readTags(fields: FieldReader): string[] {
  const value = fields.raw('tags')
  return fields.list(typeof value === 'string' && value.includes('|') ? '|' : ',', 'tags')
}

/** Types of visits without a short URL. */
const ORPHANS = new Set(['invalid_short_url', 'base_url', 'regular_404'])
/** The path of the tracking pixel, after the short code. */
const PIXEL = /\/track$/

/** A visit of Shlink: a row of the web client's CSV or of the command line's, or an object of the API. */
function readClick(fields: FieldReader, options: ReadingOptions): NewClick | null {
  if (ORPHANS.has(fields.text('type') ?? '')) return null
  const visitedUrl = toKnown(fields.text('visitedUrl'))
  const shortUrl = readVisitedShortUrl(fields, visitedUrl)
  if (!shortUrl) fields.add('visitedUrl', visitedUrl, NO_SHORT_URL)
  const place = fields.inner('visitLocation') ?? fields
  return {
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
  }
}

const NO_SHORT_URL =
  'Shlink did not record the short URL of this visit: it does since version 4.1. Export visits by its API, and add shortUrl to each.'

/**
 * A column that a person's script has added comes first, because the visited URL can have a base path, and old visits lack it.
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
 * The command line writes `Potential bot` or nothing, other exports true or false. If Shlink has not detected a bot, the user
 * agent decides, as for live clicks.
 */
const readBot = (fields: FieldReader): true | null =>
  fields.raw('potentialBot') === 'Potential bot' || fields.flag('potentialBot') || null
