// The contract of a source: a small pure reader of one tool's files. It turns records into links and clicks, and knows
// nothing of this server.

import type { Hit, HitDimension } from '../../../storage/hits/hit.ts'
import type { DateOrders } from '../files/date-orders.ts'
import type { FieldReader } from '../files/fields.ts'
import type { FieldProblem, RecordPlace, SourceFile } from '../files/source-file.ts'
import type { DateOrder, LinkSourceName } from '../schema.ts'

/** A link as its tool had it. Nothing is checked against this server's rules yet. */
export interface SourceLink {
  /** The link's name in its tool: its id, else its host and slug. Null where the file has neither. */
  sourceKey: string | null
  /** The host of the short link, in lower case; null where the file names none. */
  host: string | null
  /** Null: a random one. */
  slug: string | null
  /** More slugs of the same link on the same host. */
  aliases: string[]
  destinationUrl: string
  title: string | null
  comments: string | null
  tags: string[]
  /** Milliseconds, like all times here. Null: now. */
  createdAt: number | null
  archived: boolean
  startsAt: number | null
  expiresAt: number | null
  expiredUrl: string | null
  clickLimit: number | null
  /** In plain text, where a tool exports it. */
  password: string | null
  /** ISO 3166-1 alpha-2, upper case → URL. */
  geoTargeting: Record<string, string>
  deviceTargeting: { ios?: string; android?: string; desktop?: string }
  redirectStatus: 301 | 302 | 307 | 308 | null
  forwardQuery: boolean
  previewTitle: string | null
  previewDescription: string | null
  previewImage: string | null
  /** The tool's count of clicks; null where the file has none. */
  clicks: number | null
  /** Redirect rules as the API takes them; null without any. */
  rules: unknown
  /** Fields that other tools lack: all of them from `towpath`, and the external id from a column of that name. */
  own?: Partial<OwnFields>
  /** Settings of the tool that this product lacks, in words such as `expired after 10 visits`. People see them. */
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

/** One click of a tool's history. Texts are as the tool has them; '' and null mean unknown. */
export interface SourceClick {
  /** `sourceKey` of its link, where the history names it by the tool's id. */
  sourceKey: string | null
  host: string | null
  slug: string | null
  at: number
  /** For the country where the tool has none, and dropped at once. Some tools have cut it (`192.0.2.0`). */
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
  /** The tool's verdict; null where it has none, and the user agent decides. */
  bot: boolean | null
  trigger: 'link' | 'qr'
  /** The address that was asked for, with its query: utm parameters are read from it. */
  visitedUrl: string | null
  /** Where the click led, with its utm parameters. */
  destinationUrl: string | null
  /** For `towpath` only: the click as this product has described it. It wins over all else here. */
  described?: DescribedClick
}

/** A hit of our own export. Its visitor is a number of 64 bits that tells the visitors of a day apart; '' where nobody knows. */
export type DescribedClick = Pick<
  Hit,
  'outcome' | 'class' | 'trigger' | 'visitor' | 'unknownSlug' | 'params' | HitDimension
>

/** How a record reads: a value, what is wrong with it, or null where the record is no link (or no click) at all. */
export type Reading<T> = { value: T } | { problems: FieldProblem[] } | null

/** The person's settings for the file. */
export interface ReadingOptions {
  dateOrder: DateOrder | null
  /** IANA name: the zone of dates that name none. */
  timeZone: string
  /** While a whole file is checked: collects what its dates allow. */
  dateOrders?: DateOrders
  /** `csv` only: our field → the column's name; '' for a column that is not to be read. */
  mapping: Record<string, string>
}

export type NewLink = Partial<SourceLink> & Pick<SourceLink, 'destinationUrl'>
export type NewClick = Partial<SourceClick> & Pick<SourceClick, 'at'>

export interface ImportSource {
  name: LinkSourceName
  /** As its makers write it. */
  title: string
  links: RecordPlace
  /** Absent where the tool exports no history. */
  clicks?: RecordPlace
  /** Whether a file with these columns (of this table, in SQL) is the tool's. Two sources never claim one file. */
  isLinkFile(columns: string[]): boolean
  isClickFile?(columns: string[]): boolean
  /** `csv` only: our field → the column that seems to have it. */
  suggestMapping?(columns: readonly string[]): Record<string, string>
  /** `csv` only. @throws FileProblem for a mapping that does not fit the file */
  checkMapping?(file: SourceFile, mapping: Record<string, string>): void
  /** Slugs of the tool that differ in case only are different links. */
  isCaseSensitive: boolean
  /** What it leaves out is as in a plain link. @returns null where the record is no link at all */
  readLink(fields: FieldReader, options: ReadingOptions): NewLink | null
  /** What it leaves out is unknown. @returns null where the record is no click at all */
  readClick?(fields: FieldReader, options: ReadingOptions): NewClick | null
}
