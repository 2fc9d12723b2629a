// A short URL of Shlink: a row of the web client's CSV, or an object of the API.

import { FieldReader } from '../../files/fields.ts'
import type { FileRecord } from '../../files/source-file.ts'
import { readDomainName } from '../read-domain-name.ts'
import { splitShortUrl, toSlug } from '../short-url.ts'
import type { Reading, ReadingOptions, SourceLink } from '../source.ts'
import { createSourceLink } from '../source-link.ts'
import { readRedirectRules } from './redirect-rules.ts'

export function toShlinkLink(record: FileRecord, options: ReadingOptions): Reading<SourceLink> {
  const fields = new FieldReader(record)
  const meta = readObject(fields, 'meta')
  const visits = readObject(fields, 'visitsSummary')
  const rules = readRedirectRules(fields)
  const link = createSourceLink({
    ...readName(fields),
    destinationUrl: fields.required(
      'The short URL has no destination. Write its URL here.',
      'longUrl',
      'originalUrl',
    ),
    title: fields.text('title'),
    tags: readTags(fields),
    createdAt: fields.time(options, 'dateCreated', 'createdAt'),
    startsAt: meta?.time(options, 'validSince') ?? null,
    expiresAt: meta?.time(options, 'validUntil') ?? null,
    clickLimit: meta?.number('maxVisits') ?? null,
    geoTargeting: rules.geoTargeting,
    deviceTargeting: rules.deviceTargeting,
    // Shlink passes the query on unless somebody has switched it off. The CSV does not say.
    forwardQuery: fields.raw('forwardQuery') === undefined || fields.flag('forwardQuery'),
    // Clicks are those of people here.
    clicks: visits?.number('nonBots', 'total') ?? fields.number('visitsCount', 'visits'),
    left: [...rules.left, ...(fields.flag('crawlable') ? ['being shown to search engines'] : [])],
  })
  return fields.result(link)
}

/** A list is what PHP makes of an object without properties. */
function readObject(fields: FieldReader, name: string): FieldReader | null {
  const value = fields.raw(name)
  const inner = fields.inner(name)
  const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
  if (!inner && !isEmpty) fields.add(name, value, 'This has to be an object. Export the file again.')
  return inner
}

/** The web client takes the code from the URL, with its percent signs. The API has it as it is. */
function readName(fields: FieldReader): Pick<SourceLink, 'host' | 'slug'> {
  const text = fields.text('shortUrl')
  const shortUrl = text === null ? null : splitShortUrl(text)
  const code = fields.text('shortCode')
  const slug = code === null ? (shortUrl?.slug ?? '') : toSlug(code)
  if (slug === '') fields.add('shortCode', code ?? text, 'The short URL has no short code. Write it here.')
  return { host: readDomainName(fields, 'domain') ?? shortUrl?.host ?? null, slug: slug === '' ? null : slug }
}

/** `|` stands between tags since 2023, a comma stood there before. */
function readTags(fields: FieldReader): string[] {
  const value = fields.raw('tags')
  return fields.list(typeof value === 'string' && value.includes('|') ? '|' : ',', 'tags')
}
