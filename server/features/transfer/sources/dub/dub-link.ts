// Reads a link of Dub: a row of its CSV export, or an object of its API.

import { type FieldReader, isTextValue } from '../../files/fields.ts'
import { type ShortUrl, splitShortUrl } from '../short-url.ts'
import type { NewLink, ReadingOptions, SourceLink } from '../source.ts'
import { NO_DESTINATION, readDomainName, toDeviceTargeting } from '../source-link.ts'
import { ROOT } from './dub-click.ts'

/** Columns that can name the short link. */
const NAMES = ['key', 'Short link', 'link', 'shortLink']

export function readDubLink(fields: FieldReader, options: ReadingOptions): NewLink {
  const shortUrl = readLinkName(fields)
  const archived = fields.flag('archived')
  const isDisabled = fields.text('disabledAt') !== null
  return {
    sourceKey: fields.text('id', 'Link ID'),
    host: shortUrl?.host ?? null,
    slug: shortUrl?.slug ?? null,
    destinationUrl: fields.required(NO_DESTINATION, 'url', 'Destination URL'),
    title: fields.text('title'),
    comments: fields.text('comments'),
    tags: readTags(fields),
    createdAt: fields.time(options, 'createdAt', 'Created at'),
    archived: archived || isDisabled,
    expiresAt: fields.time(options, 'expiresAt'),
    expiredUrl: fields.text('expiredUrl'),
    password: fields.text('password'),
    geoTargeting: readCountries(fields),
    deviceTargeting: toDeviceTargeting({ ios: fields.text('ios'), android: fields.text('android') }),
    // Dub adds the query of the short URL to every destination.
    forwardQuery: true,
    ...readCard(fields),
    clicks: fields.number('clicks'),
    left: listLeft(fields, archived, isDisabled),
  }
}

function readLinkName(fields: FieldReader): ShortUrl | null {
  const key = fields.text('key')
  const text = fields.text('Short link', 'link', 'shortLink')
  const shortUrl = text === null ? null : splitShortUrl(text)
  const host = readDomainName(fields, 'domain') ?? shortUrl?.host
  const slug = key ?? shortUrl?.slug
  const column = NAMES.find((name) => fields.raw(name) !== undefined) ?? 'Short link'
  if (host === undefined || slug === undefined)
    fields.add(column, text ?? key, 'This is not a short link. Write it as https://go.example.com/slug.')
  else if (slug === '' || slug === ROOT)
    fields.add(
      column,
      text ?? key,
      'This is the redirect of the root of a domain. Set it in the settings of the domain.',
    )
  else return { host, slug }
  return null
}

/** The API has objects with a name. The CSV export has names separated by commas. */
function readTags(fields: FieldReader): string[] {
  if (Array.isArray(fields.raw('tags'))) return fields.list(',', 'tags')
  const text = withoutFormulaQuote(fields.text('tags') ?? '')
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '')
}

/** Dub puts `'` before a cell that spreadsheets would read as a formula. */
const withoutFormulaQuote = (text: string) => (/^'[=+\-@]/.test(text) ? text.slice(1) : text)

function readCountries(fields: FieldReader): Record<string, string> {
  const value = fields.raw('geo')
  const targets: Record<string, string> = {}
  if (value === undefined || value === null || value === '') return targets
  if (typeof value !== 'object' || Array.isArray(value)) {
    fields.add(
      'geo',
      value,
      'This must be an object with a URL for each country, such as {"DE": "https://…"}.',
    )
    return targets
  }
  for (const [country, url] of Object.entries(value)) {
    if (/^[a-z]{2}$/i.test(country) && isTextValue(url)) targets[country.toUpperCase()] = url
    else
      fields.add(
        'geo',
        { [country]: url },
        'Write a country of two letters and its URL, such as {"DE": "https://…"}.',
      )
  }
  return targets
}

/** Reads the card. Without `proxy`, title, description and image are those of the destination, and Dub shows no card. */
function readCard(fields: FieldReader): Partial<SourceLink> {
  if (!fields.flag('proxy')) return {}
  return {
    previewTitle: fields.text('title'),
    previewDescription: fields.text('description'),
    previewImage: fields.text('image'),
  }
}

const COUNTS = { leads: 'leads', conversions: 'conversions', sales: 'sales' }
const FLAGS = {
  trackConversion: 'conversion tracking',
  rewrite: 'link cloaking',
  doIndex: 'being shown to search engines',
  publicStats: 'public statistics',
}
const TEXTS = {
  externalId: 'the external id',
  tenantId: 'the tenant',
  programId: 'the program',
  partnerId: 'the partner',
  folderId: 'the folder',
}

function listLeft(fields: FieldReader, archived: boolean, isDisabled: boolean): string[] {
  const left: string[] = []
  if (archived) left.push('redirects of an archived link: it answers 404 here')
  if (isDisabled) left.push('being disabled: it is archived here')
  for (const [name, words] of Object.entries(COUNTS)) {
    const count = fields.number(name)
    if (count !== null && count > 0) left.push(`${count} ${words}`)
  }
  const cents = fields.number('saleAmount')
  const revenue = fields.text('Revenue') ?? (cents === null ? null : (cents / 100).toFixed(2))
  if (revenue !== null && Number(revenue) !== 0) left.push(`revenue of ${revenue}`)
  for (const [name, words] of Object.entries(FLAGS)) if (fields.flag(name)) left.push(words)
  for (const [name, words] of Object.entries(TEXTS)) {
    const text = fields.text(name)
    if (text !== null) left.push(`${words} ${text}`)
  }
  if (fields.flag('proxy') && fields.text('video') !== null) left.push('the video of the card')
  const variants = fields.raw('testVariants')
  if (Array.isArray(variants) && variants.length > 0)
    left.push(`an A/B test of ${variants.length} destinations`)
  const webhooks = fields.raw('webhookIds')
  if (Array.isArray(webhooks) && webhooks.length > 0) left.push('webhooks of the link')
  return left
}
