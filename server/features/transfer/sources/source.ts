// The interface of a source: a pure reader of one tool's files, which turns records into links and clicks. It does not depend on
// this server.

import type { Hit, HitDimension } from '../../../storage/hits/hit.ts'
import type { DateOrders } from '../files/date-orders.ts'
import type { FieldReader } from '../files/fields.ts'
import type { FieldProblem, RecordPlace, SourceFile } from '../files/source-file.ts'
import type { DateOrder, LinkSourceName } from '../schema.ts'

/** A link as in its tool, before any check against this server's rules. */
export interface SourceLink {
  /** The link's id in its tool, else its host and slug. Null if the file has neither. */
  sourceKey: string | null
  /** The host of the short link, in lower case; null if the file has none. */
  host: string | null
  /** Null for a random slug. */
  slug: string | null
  /** More slugs of the same link on the same host. */
  aliases: string[]
  destinationUrl: string
  title: string | null
  comments: string | null
  tags: string[]
  /** Milliseconds, like all times here. Null for now. */
  createdAt: number | null
  archived: boolean
  startsAt: number | null
  expiresAt: number | null
  expiredUrl: string | null
  clickLimit: number | null
  /** In plain text, if the tool exports it. */
  password: string | null
  /** ISO 3166-1 alpha-2, upper case → URL. */
  geoTargeting: Record<string, string>
  deviceTargeting: { ios?: string; android?: string; desktop?: string }
  redirectStatus: 301 | 302 | 307 | 308 | null
  forwardQuery: boolean
  previewTitle: string | null
  previewDescription: string | null
  previewImage: string | null
  /** The tool's count of clicks; null if the file has none. */
  clicks: number | null
  /** Redirect rules in the form of the API; null without any. */
  rules: unknown
  /** Fields that other tools lack: all of them from `towpath`, and the external id from a column of that name. */
  own?: Partial<OwnFields>
  /** Settings that this product does not have, as texts for people, such as `expired after 10 visits`. */
  left: string[]
}

export interface OwnFields {
  externalId: string | null
  leadLimit: number | null
  trackConversions: boolean
  extraPath: string | null
  publicStats: boolean
  split: unknown
}

/** One click of a tool's history. Texts are unchanged; '' and null mean unknown. */
export interface SourceClick {
  /** `sourceKey` of its link, if the history has the tool's id. */
  sourceKey: string | null
  host: string | null
  slug: string | null
  at: number
  /** Used for the country if the tool has none, then dropped. Some tools have cut it (`192.0.2.0`). */
  address: string | null
  userAgent: string | null
  /** URL or host. */
  referrer: string | null
  /** ISO code or English name. */
  country: string | null
  region: string | null
  city: string | null
  browser: string | null
  os: string | null
  device: string | null
  /** The tool's decision; null if it has none, and the user agent decides. */
  bot: boolean | null
  trigger: 'link' | 'qr'
  /** The requested address with its query, from which utm parameters are read. */
  visitedUrl: string | null
  /** The destination of the click, with its utm parameters. */
  destinationUrl: string | null
  /** Only for `towpath`: the enriched click, which overrides all other members. */
  described?: DescribedClick
}

/** A hit of our own export. Its visitor is a number of 64 bits, unique in a day; '' if it is unknown. */
export type DescribedClick = Pick<
  Hit,
  'outcome' | 'class' | 'trigger' | 'visitor' | 'unknownSlug' | 'params' | HitDimension
>

/** The reading of a record: a value, its problems, or null if the record is not a link (or a click). */
export type Reading<T> = { value: T } | { problems: FieldProblem[] } | null

/** The person's settings for the file. */
export interface ReadingOptions {
  dateOrder: DateOrder | null
  /** IANA name: the zone of dates without one. */
  timeZone: string
  /** Collects the possible orders of dates while a file is checked. */
  dateOrders?: DateOrders
  /** `csv` only: our field → the column's name; '' for a field that is not read. */
  mapping: Record<string, string>
}

export type NewLink = Partial<SourceLink> & Pick<SourceLink, 'destinationUrl'>
export type NewClick = Partial<SourceClick> & Pick<SourceClick, 'at'>

export interface ImportSource {
  name: LinkSourceName
  /** The tool's name, as its makers write it. */
  title: string
  links: RecordPlace
  /** Absent if the tool exports no history. */
  clicks?: RecordPlace
  /** True if a file with these columns (of this table, in SQL) is the tool's. At most one source returns true for a file. */
  isLinkFile(columns: string[]): boolean
  isClickFile?(columns: string[]): boolean
  /** `csv` only: our field → the suggested column. */
  suggestMapping?(columns: readonly string[]): Record<string, string>
  /** `csv` only. @throws FileProblem for a mapping that does not match the file */
  checkMapping?(file: SourceFile, mapping: Record<string, string>): void
  /** True if slugs of the tool that differ only in case are different links. */
  isCaseSensitive: boolean
  /** Fields that it leaves out get their defaults. @returns null if the record is not a link */
  readLink(fields: FieldReader, options: ReadingOptions): NewLink | null
  /** Fields that it leaves out are unknown. @returns null if the record is not a click */
  readClick?(fields: FieldReader, options: ReadingOptions): NewClick | null
}
