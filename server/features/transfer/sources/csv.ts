// Reads any table of links: a CSV file, a list of JSON objects. A mapping says which column has what; known names of
// columns need none.

import { FieldReader, toPlainName } from '../files/fields.ts'
import { FileProblem, type FileRecord } from '../files/source-file.ts'
import { splitShortUrl, toHost, toSlug } from './short-url.ts'
import type { ImportSource, ReadingOptions, SourceLink } from './source.ts'
import { createSourceLink } from './source-link.ts'

/** Our fields, each with the names that columns with it usually have: as plain names, the most certain one first. */
const FIELD_NAMES = {
  destinationUrl: [
    'destinationurl',
    'longurl',
    'originalurl',
    'targeturl',
    'destination',
    'target',
    'longlink',
    'originallink',
    'redirecturl',
    'redirectto',
    'destinationlink',
    'url',
    'link',
  ],
  shortUrl: ['shorturl', 'shortlink', 'shortenedurl', 'shortenedlink', 'bitlink', 'brandedlink'],
  slug: [
    'slug',
    'shortcode',
    'backhalf',
    'custombackhalf',
    'alias',
    'keyword',
    'slashtag',
    'path',
    'shortid',
    'code',
    'key',
    'customslug',
    'customalias',
  ],
  domain: ['domain', 'shortdomain', 'domainname', 'host', 'hostname'],
  title: ['title', 'linktitle', 'name', 'linkname'],
  comments: ['comments', 'comment', 'description', 'notes', 'note'],
  tags: ['tags', 'tag', 'labels', 'label', 'categories', 'category'],
  createdAt: [
    'createdat',
    'created',
    'creationdate',
    'datecreated',
    'createddate',
    'createdon',
    'creationtime',
    'timestamp',
    'date',
  ],
  archived: ['archived', 'isarchived', 'disabled'],
  startsAt: ['startsat', 'startdate', 'validsince', 'activefrom'],
  expiresAt: [
    'expiresat',
    'expires',
    'expirationdate',
    'expirydate',
    'expiredate',
    'expiration',
    'validuntil',
  ],
  expiredUrl: ['expiredurl', 'expirationurl', 'fallbackurl'],
  clickLimit: ['clicklimit', 'clickslimit', 'maxclicks', 'maxvisits'],
  password: ['password', 'linkpassword'],
  iosUrl: ['iosurl', 'iphoneurl', 'ios', 'iostarget', 'applestoreurl'],
  androidUrl: ['androidurl', 'android', 'androidtarget', 'googleplayurl'],
  desktopUrl: ['desktopurl', 'desktop'],
  clicks: ['clicks', 'totalclicks', 'visits', 'visitcount', 'hits', 'clickcount', 'engagements', 'scans'],
  externalId: ['id', 'linkid', 'externalid', 'uuid'],
} as const

export type CsvField = keyof typeof FIELD_NAMES
export const CSV_FIELDS = Object.keys(FIELD_NAMES) as CsvField[]

type Mapping = Partial<Record<CsvField, string>>

/** A name that two fields may have is for the first one in the order of the fields. */
function suggestMapping(columns: readonly string[]): Record<string, string> {
  const plain = new Map<string, string>()
  for (const column of columns) {
    const name = toPlainName(column).replace(/\(.*\)$/, '')
    if (!plain.has(name)) plain.set(name, column)
  }
  const mapping: Mapping = {}
  for (const field of CSV_FIELDS) {
    const name = FIELD_NAMES[field].find((known) => plain.has(known))
    if (name === undefined) continue
    mapping[field] = plain.get(name) as string
    plain.delete(name)
  }
  // A column "Link" beside one for the destination has the short URL.
  const link = plain.get('link')
  if (link !== undefined && mapping.shortUrl === undefined) mapping.shortUrl = link
  return mapping
}

/** Columns → the mapping that was said → the one that holds. All records of a CSV file have the same columns. */
const mappings = new WeakMap<readonly string[], WeakMap<Record<string, string>, Mapping>>()

/** @throws FileProblem for a column that the file does not have: nothing of it is imported */
function findMapping({ columns, fields }: FileRecord, said: Record<string, string>): Mapping {
  if (!columns) return mergeMappings([...fields.keys()], said, false)
  let known = mappings.get(columns)
  if (!known) {
    known = new WeakMap()
    mappings.set(columns, known)
  }
  let mapping = known.get(said)
  if (!mapping) {
    mapping = mergeMappings(columns, said, true)
    known.set(said, mapping)
  }
  return mapping
}

/** @param isTable whether each record has all columns: JSON leaves out what is empty */
function mergeMappings(columns: readonly string[], said: Record<string, string>, isTable: boolean): Mapping {
  const mapping: Mapping = suggestMapping(columns)
  for (const [field, column] of Object.entries(said)) {
    if (!CSV_FIELDS.includes(field as CsvField))
      throw new FileProblem(
        `mapping: "${field}" is no field of a link. Fields are: ${CSV_FIELDS.join(', ')}.`,
      )
    if (column !== '' && isTable && !columns.includes(column))
      throw new FileProblem(`mapping: the file has no column "${column}". It has: ${listNames(columns)}.`)
    // A column that a person has chosen for one field is no longer guessed for another.
    for (const other of CSV_FIELDS) if (column !== '' && mapping[other] === column) delete mapping[other]
    if (column === '') delete mapping[field as CsvField]
  }
  for (const [field, column] of Object.entries(said)) if (column !== '') mapping[field as CsvField] = column
  if (isTable && mapping.destinationUrl === undefined)
    throw new FileProblem(
      `No column of the file is known to have the destination. Say which one: mapping, destinationUrl. The file has: ${listNames(columns)}.`,
    )
  return mapping
}

const listNames = (columns: readonly string[]) => columns.slice(0, 20).join(', ').slice(0, 500)

export const csv: ImportSource = {
  name: 'csv',
  title: 'CSV',
  links: { lists: ['links', 'urls', 'data', 'items', 'results'], tables: [] },
  // A mapping makes any table a list of links.
  isLinkFile: (columns) => columns.length > 0,
  // Nobody knows. Two links whose slugs differ in case only must not become one.
  isCaseSensitive: true,
  suggestMapping,
  toLink(record, options) {
    const fields = new FieldReader(record)
    if (record.problem) return { problems: fields.problems }
    return fields.result(readLink(fields, findMapping(record, options.mapping), options))
  },
}

function readLink(fields: FieldReader, mapping: Mapping, options: ReadingOptions): SourceLink {
  // A field without a column finds nothing: no column has an empty name.
  const column = (field: CsvField) => mapping[field] ?? ''
  const text = (field: CsvField) => fields.text(column(field))
  return createSourceLink({
    ...readShortUrl(fields, mapping),
    destinationUrl: fields.required(
      'The destination is missing. Write the URL that the link leads to.',
      mapping.destinationUrl ?? 'destinationUrl',
    ),
    sourceKey: text('externalId'),
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
    deviceTargeting: toDeviceTargeting(text('iosUrl'), text('androidUrl'), text('desktopUrl')),
    clicks: fields.number(column('clicks')),
  })
}

/** The slug is said by a column of its own, or by the short URL. */
function readShortUrl(fields: FieldReader, mapping: Mapping): Pick<SourceLink, 'host' | 'slug'> {
  const said = { slug: mapping.slug ?? '', shortUrl: mapping.shortUrl ?? '', domain: mapping.domain ?? '' }
  const written = fields.text(said.shortUrl)
  const short = written === null ? null : splitShortUrl(written)
  if (written !== null && !short)
    fields.add(said.shortUrl, written, 'This is no short URL. Write it as https://go.example/slug.')
  const domain = fields.text(said.domain)
  const host = domain === null ? null : toHost(domain)
  if (domain !== null && host === null)
    fields.add(said.domain, domain, 'This is no domain. Write it as go.example.')
  const slug = fields.text(said.slug)
  const own = slug?.includes('://') ? splitShortUrl(slug) : null
  return {
    host: host ?? short?.host ?? own?.host ?? null,
    slug: (own ? own.slug : slug === null ? (short?.slug ?? null) : toSlug(slug)) || null,
  }
}

function toDeviceTargeting(
  ios: string | null,
  android: string | null,
  desktop: string | null,
): SourceLink['deviceTargeting'] {
  return { ...(ios && { ios }), ...(android && { android }), ...(desktop && { desktop }) }
}
