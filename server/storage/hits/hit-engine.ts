// The interface of a hit engine, which loads each batch exactly once and answers questions. tests/contracts tests DuckDB and
// ClickHouse against it.

import type { ColumnFilter } from '../filter-sql.ts'
import type { OriginDimension } from '../sources/origin-sql.ts'
import type { Hit, HitClass, HitDimension, HitOutcome } from './hit.ts'
import type { ParamColumn } from './kept-params.ts'
import type { OriginPart } from './rollups/answer-origin.ts'

/** An immutable file of hits: newline-delimited JSON, one `Hit` a line. */
export interface Batch {
  node: string
  /** 1, 2, 3 …, without gaps in each node. */
  number: number
  path: string
}

/** A dimension with its own column. */
export type OwnColumn = HitDimension | 'linkId' | 'class'
/** A dimension that is stored with the hit. */
export type StoredColumn = OwnColumn | ParamColumn
/**
 * Dimensions that a question can filter or group by. Source and channel are computed from stored columns for each
 * question.
 */
export type HitColumn = StoredColumn | OriginDimension

export type OriginFilter = ColumnFilter<OriginDimension>
export type HitFilter = ColumnFilter<StoredColumn> | OriginFilter

interface ColumnGrouping<Column> {
  by: Column
  limit: number
  /** Hits without a value are counted under this name. */
  nullAs: string
}
export type OriginGrouping = ColumnGrouping<OriginDimension>

export type HitGrouping =
  | { by: 'total' }
  /**
   * A hit belongs to the last bucket that starts at or before it. The caller passes the starts (ascending milliseconds,
   * the first at or before the query's start), so engines do not need time zones.
   */
  | { by: 'time'; starts: number[] }
  | ColumnGrouping<StoredColumn>
  | OriginGrouping
  /** Each link on each UTC day. `readLinkDay` reads the keys. */
  | { by: 'linkDay' }
  /** A link counts in each of its groups (its tags, its domain). `groups` lists the groups of each link. */
  | { by: 'linkGroup'; groups: { linkId: number; group: string | number }[]; limit: number }

/** An upper limit of days since 1970, for the keys of `linkDay`. */
export const LINK_DAYS = 65_536

/** Reads the key of the grouping `linkDay`. */
export const readLinkDay = (key: number) => ({ linkId: Math.floor(key / LINK_DAYS), day: key % LINK_DAYS })

/** The hits that a question is about. Only hits whose outcome is `redirect` are clicks. */
export interface HitSelection {
  workspaceId: number
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
  classes: HitClass[]
  /** Only clicks when absent. An empty list selects no hit. */
  outcomes?: HitOutcome[]
  /** Selects imported hits, or all others. Both kinds when absent. */
  imported?: boolean
  filters: HitFilter[]
}

/** A question about hits. */
export interface HitQuery extends HitSelection {
  groupBy: HitGrouping
}

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

interface ExportPlace {
  selection: HitSelection
  /** A directory for this export alone, in the engine's scratch directory. */
  dir: string
}

/** Clicks for people. */
export interface ClickExport extends ExportPlace {
  format: ExportFormat
  /** A file in `dir` with the names of links, as lines of `{"id", "slug", "domain"}`. */
  links: string
  /** The names of kept parameters, each with a column. */
  params?: readonly string[]
}

/** Hits for another server: lines of JSON with the fields of `Hit`, but `workspaceId`. */
export interface HistoryExport extends ExportPlace {
  format: 'history'
}

export type HitExport = ClickExport | HistoryExport

export interface ExportedFile {
  path: string
  bytes: number
}

/**
 * One row of an answer. `key` depends on the grouping:
 * - total: null. There is always exactly one row.
 * - time: the start of the bucket in milliseconds. Rows come in order, without empty buckets.
 * - linkDay: the number that `readLinkDay` reads. Those with the most clicks come first.
 * - column or group: the value or the group. Rows with the most clicks come first, and ties in the order of their keys.
 */
export interface HitAnswer {
  key: string | number | null
  clicks: number
  /** Exact distinct count. Hits of `NO_VISITOR` have none. */
  visitors: number
}

export interface ExplainedAnswer {
  answers: HitAnswer[]
  origin: OriginPart[]
}

export interface RollUpProgress {
  /** The number of days and months that this call has rolled up. If it is above 0, another call can do more. */
  rolled: number
  /** Closed days that are not rolled up. Some of them must wait, because their hits still arrive. */
  waiting: number
  /** The roll-up failed, was logged, and pauses. Another call tries another one. */
  failed?: true
}

/**
 * A question for each visitor's last click before a time, for many times at once. A click is a redirect of a
 * person that this server has recorded. Imported hits do not count, because their visitors are unknown.
 */
export interface LastClicksQuery {
  workspaceId: number
  /** Visitors with their whole hash. Milliseconds since the epoch. A click in the same millisecond counts as before the moment. */
  moments: { visitor: string; at: number }[]
  /** Only a click within this time before the moment counts. */
  withinMs: number
}

/** The origin of a click's visitor, as recorded. */
export const CLICK_SOURCE_FIELDS = [
  'referrer',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
] as const satisfies (keyof Hit)[]
export type ClickSource = Pick<Hit, (typeof CLICK_SOURCE_FIELDS)[number]>

/** `id` is unique within its node only. */
export type LastClick = Pick<Hit, 'id' | 'at' | 'linkId' | 'variant'> & ClickSource & { node: string }

/** The id of the last hit that was read, by node. */
export type StorePosition = Record<string, number>

/** A question for the clicks of a link that follow a position. */
export interface ClickPageQuery {
  workspaceId: number
  linkId: number
  classes: HitClass[]
  /** `latest` reads none, and answers with the position after all of them. */
  after: StorePosition | 'latest'
  limit: number
}

export type StoredClick = Hit & { node: string }

export interface ClickPage {
  /** By node, and then by id. Imported hits are left out. */
  clicks: StoredClick[]
  /** The position after these clicks. */
  position: StorePosition
}
/** A question for the newest clicks of people in a range. */
export interface RecentClicksQuery {
  workspaceId: number
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
  limit: number
}

/** The fields of a click in the live feed. */
export const RECENT_CLICK_FIELDS = [
  'country',
  'city',
  'device',
  'browser',
  'os',
  'referrer',
  'utmCampaign',
  'trigger',
] as const satisfies (keyof Hit)[]
export type RecentClick = Pick<Hit, 'at' | 'linkId' | (typeof RECENT_CLICK_FIELDS)[number]>

/** The clicks of people on each link. Lists of numbers, because a million links go from one process to another. */
export interface LinkClicks {
  /** Ascending. */
  linkIds: Float64Array
  /** One number for each of `linkIds`. */
  clicks: Float64Array
}

/** Facts about an engine's content, for a comparison with the counters of links. */
export interface HitInspection {
  /** Such as `DuckDB v1.5.6`. */
  version: string
  /** The last batch of each node. The engine had these batches when it began to count. */
  marks: Record<string, number>
  /** The marks after counting: the clicks include no later batch. */
  marksAfter: Record<string, number>
  /** Absent when only the marks were asked for. */
  clicks?: LinkClicks
}

export interface HitEngine {
  /** The number of the last loaded batch of `node`; 0 if there is none. */
  mark(node: string): Promise<number>
  /**
   * Loads a batch and its number in one transaction, synced to the disk. A batch that is already loaded changes nothing. The
   * engine stores each visitor with the day of its hit (day-visitor.ts).
   * @throws for a batch that does not follow the mark, and for a malformed batch, of which no hit is stored
   */
  load(batch: Batch): Promise<void>
  /** Declares the batches of `node` up to `through` lost, so that later ones can be loaded. Never lowers a mark. */
  skip(node: string, through: number): Promise<void>
  ask(query: HitQuery): Promise<HitAnswer[]>
  /** The answer of `ask`, and its origin. */
  explain(query: HitQuery): Promise<ExplainedAnswer>
  /**
   * Rolls up closed UTC days that are not rolled up yet, the last `RECENT_DAYS` before older ones, the oldest of each first,
   * and then months whose days are all rolled up. A call takes a short time, and leaves the rest to the next one. Answers become
   * faster and do not change. Make one call at a time.
   * @param now milliseconds since the epoch: a day is closed some minutes after its end
   */
  rollUp(now: number): Promise<RollUpProgress>
  /** Returns an answer for each moment, in their order. Among clicks of the same millisecond the last recorded one counts. */
  findLastClicks(query: LastClicksQuery): Promise<(LastClick | null)[]>
  /** Writes the selected hits, oldest first, to one file in the export's directory. @throws when `signal` aborts */
  export(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /**
   * Deletes the hits recorded before this time, including those of unknown slugs, from every file of the engine and from its
   * backup.
   */
  deleteBefore(before: number): Promise<void>
  /**
   * Erases every hit of these workspaces from every file of the engine, including its backup and unreadable files. When it
   * resolves, the engine's disks have none of them. Marks stay.
   */
  erase(workspaceIds: number[]): Promise<void>
  /** Deletes the hits of an import from every file of the engine and from its backup. */
  deleteImported(hits: ImportedHits): Promise<void>
  /** Links without a click are left out. */
  findLastClickTimes(workspaceId: number, linkIds: number[]): Promise<LastClickTime[]>
  /**
   * Each click is on exactly one page, also if it arrives late. @throws if the answering server may lack earlier hits
   */
  readClicks(query: ClickPageQuery): Promise<ClickPage>
  /** Newest first, without imported clicks. */
  listRecentClicks(query: RecentClicksQuery): Promise<RecentClick[]>
  /** @param withClicks counts all hits: a second on ten million */
  inspect(withClicks: boolean): Promise<HitInspection>
  /**
   * Writes a consistent copy of all hits and marks to `path`. It replaces an older copy only when it is complete.
   * Absent if the engine has its own copies: loaded batches of such an engine can be deleted.
   */
  backup?(path: string): Promise<void>
  close(): Promise<void>
}

/** The hits of an import in a workspace. */
export interface ImportedHits {
  workspaceId: number
  importId: number
}

/** The time of the newest click of people on a link. */
export type LastClickTime = [linkId: number, at: number]

/** The part of an engine that questions need. */
export type HitReader = Pick<HitEngine, 'ask' | 'explain' | 'export'> & {
  /** The answers include every hit recorded before this time (milliseconds). */
  countedUntil(): number
}
