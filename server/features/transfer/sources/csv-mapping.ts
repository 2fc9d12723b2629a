// Maps the columns of a table to the fields of a link, by a person's choice, else by usual names of columns.

import { toPlainName } from '../files/fields.ts'
import { FileProblem, type FileRecord, type SourceFile } from '../files/source-file.ts'
import { MAPPED_FIELDS, type MappedField } from '../schema.ts'

/** Our fields, each with the usual names of its column: as plain names, the most reliable one first. */
const FIELD_NAMES: Record<MappedField, readonly string[]> = {
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
}

export type CsvMapping = Partial<Record<MappedField, string>>

/** `created(utc)` is `created`. */
const stripBrackets = (name: string) =>
  name.endsWith(')') && name.includes('(') ? name.slice(0, name.indexOf('(')) : name

/** A name that fits two fields is for the first field in their order. */
export function suggestMapping(columns: readonly string[]): Record<string, string> {
  const plain = new Map<string, string>()
  for (const column of columns) {
    const name = stripBrackets(toPlainName(column))
    if (!plain.has(name)) plain.set(name, column)
  }
  const mapping: CsvMapping = {}
  for (const field of MAPPED_FIELDS) {
    const name = FIELD_NAMES[field].find((known) => plain.has(known))
    if (name === undefined) continue
    mapping[field] = plain.get(name) as string
    plain.delete(name)
  }
  // If there is a column for the destination, a column "Link" has the short URL.
  const link = plain.get('link')
  if (link !== undefined && mapping.shortUrl === undefined) mapping.shortUrl = link
  return mapping
}

/** Columns → the given mapping → the complete one. All records of a CSV file have the same columns. */
const mappings = new WeakMap<readonly string[], WeakMap<Record<string, string>, CsvMapping>>()

/** The given mapping, with suggestions for the fields that it leaves out. */
export function findMapping({ columns, fields }: FileRecord, given: Record<string, string>): CsvMapping {
  if (!columns) return mergeMappings([...fields.keys()], given)
  let known = mappings.get(columns)
  if (!known) {
    known = new WeakMap()
    mappings.set(columns, known)
  }
  let mapping = known.get(given)
  if (!mapping) {
    mapping = mergeMappings(columns, given)
    known.set(given, mapping)
  }
  return mapping
}

function mergeMappings(columns: readonly string[], given: Record<string, string>): CsvMapping {
  const mapping: CsvMapping = suggestMapping(columns)
  const chosen = new Set(Object.values(given))
  // A column that a person has chosen for one field is not suggested for another.
  for (const field of MAPPED_FIELDS) if (chosen.has(mapping[field] ?? '')) delete mapping[field]
  for (const field of MAPPED_FIELDS) {
    const column = given[field]
    if (column === '') delete mapping[field]
    else if (column !== undefined) mapping[field] = column
  }
  return mapping
}

/** @throws FileProblem if the mapping names a missing column, or no column has the destination */
export function checkMapping(file: SourceFile, given: Record<string, string>): void {
  const [columns, has] = [file.columns, `The file has: ${listNames(file.columns)}.`]
  for (const column of Object.values(given)) {
    // JSON leaves out empty fields, so later records can have more columns.
    if (column !== '' && file.format === 'csv' && !columns.includes(column))
      throw new FileProblem(`mapping: the file has no column "${column}". ${has}`)
  }
  if (mergeMappings(columns, given).destinationUrl === undefined)
    throw new FileProblem(
      `No column is known to have the destination. Say which one it is, as destinationUrl of the mapping. ${has}`,
    )
}

const listNames = (columns: readonly string[]) => columns.slice(0, 20).join(', ').slice(0, 500)
