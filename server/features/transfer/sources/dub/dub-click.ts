// Reads a click of Dub: a row of its CSV export of events, or an object of its API. Leads and sales are skipped.

import type { FieldReader } from '../../files/fields.ts'
import { type ShortUrl, splitShortUrl } from '../short-url.ts'
import type { NewClick, ReadingOptions, SourceClick } from '../source.ts'
import { readClickTime, toKnown } from '../source-click.ts'
import { readDomainName } from '../source-link.ts'

/** Dub's name for the redirect of a domain's root. */
export const ROOT = '_root'

/** Columns of exports of leads and sales only. */
export const OTHER_EVENTS = [
  'Customer',
  'CustomerName',
  'CustomerExternalId',
  'EventId',
  'Metadata',
  'Invoice ID',
  'Sale Amount',
  'Sales Amount',
]

export function readDubClick(fields: FieldReader, options: ReadingOptions): NewClick | null {
  const click = fields.inner('click')
  return click ? readEvent(fields, click, options) : readRow(fields, options)
}

function readRow(fields: FieldReader, options: ReadingOptions): NewClick | null {
  if (OTHER_EVENTS.some((name) => fields.raw(name) !== undefined)) return null
  const text = fields.text('Link')
  const shortUrl = text === null ? null : splitShortUrl(text)
  if (shortUrl?.slug === '') return null
  if (!shortUrl) fields.add('Link', text, 'This is not a short link. Write it as go.example.com/slug.')
  const event = fields.text('Event')
  return {
    ...shortUrl,
    at: readClickTime(fields, options, 'Date'),
    address: fields.text('Ip', 'IP Address'),
    referrer:
      toKnown(fields.text('Referrer URL', 'RefererUrl')) ?? toKnown(fields.text('Referrer', 'Referer')),
    ...readPlaceAndDevice(fields),
    trigger: event === 'qr' || event === 'QR scan' ? 'qr' : 'link',
    destinationUrl: fields.text('Destination URL'),
  }
}

/** An event of the API, which contains an object of the click and one of the link. */
function readEvent(event: FieldReader, click: FieldReader, options: ReadingOptions): NewClick | null {
  if (event.text('event') !== 'click') return null
  const link = event.inner('link') ?? event
  const shortUrl = readLink(link)
  if (shortUrl?.slug === ROOT) return null
  const sourceKey = link.text('id', 'link_id')
  if (!shortUrl && sourceKey === null) event.add('link', event.raw('link'), 'The event names no link.')
  // The time of the event itself has no milliseconds.
  const timed = click.raw('timestamp') === undefined ? event : click
  return {
    sourceKey,
    ...shortUrl,
    at: readClickTime(timed, options, 'timestamp'),
    address: click.text('ip'),
    userAgent: toKnown(click.text('ua')),
    referrer: toKnown(click.text('refererUrl')) ?? toKnown(click.text('referer')),
    ...readPlaceAndDevice(click),
    trigger: click.flag('qr') || click.text('trigger') === 'qr' ? 'qr' : 'link',
    destinationUrl: click.text('url'),
  }
}

function readLink(fields: FieldReader): ShortUrl | null {
  const host = readDomainName(fields, 'domain')
  const slug = fields.text('key')
  return host === null || slug === null ? null : { host, slug }
}

const readPlaceAndDevice = (fields: FieldReader): Partial<SourceClick> => ({
  country: toKnown(fields.text('Country', 'country')),
  region: toKnown(fields.text('Region', 'region')),
  city: toKnown(fields.text('City', 'city')),
  browser: toKnown(fields.text('Browser', 'browser')),
  os: toKnown(fields.text('OS', 'os')),
  device: toKnown(fields.text('Device', 'device')),
})
