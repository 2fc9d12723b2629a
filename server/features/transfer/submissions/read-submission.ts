// Reads a submission from a row of another form service's export: known columns have its time and source, and all others are
// fields.

import { createHash } from 'node:crypto'
import { toEmailAddress } from '../../../lib/email.ts'
import { parseIpAddress } from '../../../lib/parse-ip.ts'
import { checkUrl } from '../../../lib/web-url.ts'
import type { BodyEntry } from '../../forms/endpoint/body-entry.ts'
import { EndpointError } from '../../forms/endpoint/endpoint-error.ts'
import { FIELD_LIMITS, parseFields } from '../../forms/endpoint/fields.ts'
import { cutReferrer, parseReferrer } from '../../visitors/referrer.ts'
import { FieldReader, toPlainName } from '../files/fields.ts'
import type { TimeOptions } from '../files/read-time.ts'
import type { FieldProblem, FileRecord } from '../files/source-file.ts'
import { type ColumnRole, findInnerFields, findKnownColumns } from './known-columns.ts'

/** A submission as in the other service. */
export interface SourceSubmission {
  /** Its id in the other service; null if the file has none. */
  id: string | null
  /** Milliseconds; null if the file has no time. */
  at: number | null
  fields: [string, string][]
  email: string | null
  isSpam: boolean
  /** The IP address, for the country. It does not leave the reader. */
  address: string
  userAgent: string
  /** The page with the form, with its query; '' if the file has none. */
  pageUrl: string
  /** The host of the referrer. */
  referrer: string | null
  /** The file's own columns for the campaign, as a query. */
  utm: string
}

export type SubmissionReading = { value: SourceSubmission } | { problems: FieldProblem[] }

const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
const TRUE = /^(?:true|1|yes|spam)$/i
/** Captcha tokens, which are no fields of people. */
const TOKENS = ['g-recaptcha-response', 'h-captcha-response']
const NO_HOSTS = new Set<string>()

export function readSubmission(record: FileRecord, options: TimeOptions): SubmissionReading {
  const outer = new FieldReader(record)
  if (record.problem) return { problems: outer.problems }
  const inner = findInnerFields(record)
  const known = findKnownColumns(record)
  const innerRecord = inner && { ...record, fields: inner }
  const innerKnown = innerRecord ? findKnownColumns(innerRecord) : {}
  const innerReader = innerRecord && new FieldReader(innerRecord, '', outer.problems)
  /** Finds a role in the service's own columns, else among the fields. */
  const find = (role: ColumnRole) => {
    const isOwn = known[role] !== undefined
    const reader = isOwn || !innerReader ? outer : innerReader
    return { reader, column: (isOwn ? known[role] : innerKnown[role]) ?? '' }
  }
  const text = (role: ColumnRole) => {
    const { reader, column } = find(role)
    return reader.text(column) ?? ''
  }
  const time = find('time')
  const at = time.reader.time(options, time.column)
  const taken = new Set(
    Object.entries(inner ? innerKnown : known).flatMap(([role, column]) =>
      // A field of the form with such a name stays if the service has its own column for it.
      inner && known[role as ColumnRole] !== undefined ? [] : [column],
    ),
  )
  const form = readFields(inner ?? record.fields, taken, outer.problems)
  if (outer.problems.length > 0) return { problems: outer.problems }
  const address = text('address')
  const value = {
    ...form,
    id: text('id') || null,
    at,
    isSpam: TRUE.test(text('spam')),
    address: parseIpAddress(address) ? address : '',
    userAgent: text('userAgent'),
    ...readPage(text('page'), text('referrer')),
    utm: toUtmQuery(text),
  }
  return outer.problems.length > 0 ? { problems: outer.problems } : { value }
}

function readFields(
  fields: ReadonlyMap<string, unknown>,
  taken: ReadonlySet<string>,
  problems: FieldProblem[],
): Pick<SourceSubmission, 'fields' | 'email'> {
  const entries: BodyEntry[] = []
  for (const [name, value] of fields)
    if (!taken.has(name) && !TOKENS.includes(name)) entries.push(...toEntries(name.trim(), value))
  try {
    const input = parseFields(entries, { json: false })
    const stored = [...input.fields]
    if (stored.length === 0) problems.push({ field: '', value: null, message: 'The row has no fields.' })
    return { fields: stored, email: findEmail(input.email, stored) }
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    problems.push({ field: '', value: null, message: TOO_LARGE })
    return { fields: [], email: null }
  }
}

const TOO_LARGE =
  `A submission has at most ${FIELD_LIMITS.fields} fields, with names of at most ${FIELD_LIMITS.name} and values of at ` +
  `most ${FIELD_LIMITS.value} characters. Shorten the row.`

/** Leaves out blank values, because a table has a cell for each field of all rows. */
function toEntries(name: string, value: unknown): BodyEntry[] {
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null))
    return value.flatMap((each) => toEntries(name, each))
  const text = value === null || value === undefined ? '' : toText(value)
  return text.trim() === '' ? [] : [{ name, value: text }]
}

const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const EMAIL_NAMES = ['email', 'emailaddress', 'mail']

/** Finds the email address, also in a field such as `Email`, because services change the names of columns. */
function findEmail(typed: string | undefined, fields: [string, string][]): string | null {
  const candidates = fields.filter(([name]) => EMAIL_NAMES.includes(toPlainName(name)))
  for (const text of [typed ?? '', ...candidates.map(([, value]) => value)]) {
    const address = toEmailAddress(text)
    if (address !== undefined) return address
  }
  return null
}

/** Without a column for the page, the referrer is that of the request, which is the page with the form. */
function readPage(page: string, referrer: string): Pick<SourceSubmission, 'pageUrl' | 'referrer'> {
  const [own, other] = [toWebUrl(page), toWebUrl(referrer)]
  if (own === '') return { pageUrl: other, referrer: null }
  const [site, source] = [own, other].map((url) => parseReferrer(cutReferrer(url), NO_HOSTS).referrer)
  return { pageUrl: own, referrer: source === site ? null : (source ?? null) }
}

function toWebUrl(text: string): string {
  const checked = checkUrl(text, { schemes: [] })
  return 'href' in checked ? checked.href : ''
}

function toUtmQuery(text: (role: (typeof UTM)[number]) => string): string {
  const query = new URLSearchParams()
  for (const name of UTM) if (text(name) !== '') query.set(name, text(name))
  return query.toString()
}

/**
 * The deduplication keys of the submissions of one file, in its order: the service's id and time, else the time, the fields and
 * the rank among equal rows. The order of columns does not matter, because the next export can have another one.
 */
export function createSubmissionKeys(): (submission: SourceSubmission) => string {
  const seen = new Map<string, number>()
  return ({ id, at, fields }) => {
    const second = at === null ? '' : Math.floor(at / 1000)
    const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : 1))
    const content = JSON.stringify(id === null ? [second, sorted] : [second, id])
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
    if (id !== null) return `id:${hash}`
    const times = (seen.get(hash) ?? 0) + 1
    seen.set(hash, times)
    return `content:${hash}:${times}`
  }
}
