// The contract of a hit engine: it loads each batch exactly once and answers questions. DuckDB is one engine.
// tests/contracts tests every engine against the contract.

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

/** A dimension with a column of its own. */
export type OwnColumn = HitDimension | 'linkId' | 'class'
/** A dimension that is stored with the hit. */
export type StoredColumn = OwnColumn | ParamColumn
/**
 * Dimensions that a question may filter or group by. Source and channel are computed from stored columns for each
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
   * A hit belongs to the last bucket that starts at or before it. The caller names the starts (ascending milliseconds,
   * the first at or before the query's start), so no engine needs to know time zones.
   */
  | { by: 'time'; starts: number[] }
  | ColumnGrouping<StoredColumn>
  | OriginGrouping
  /** Each link on each UTC day. `readLinkDay` reads the keys. */
  | { by: 'linkDay' }
  /** A link counts in each of its groups (its tags, its domain). `groups` names the groups link by link. */
  | { by: 'linkGroup'; groups: { linkId: number; group: string | number }[]; limit: number }

/** More days than anybody counts clicks for. */
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
  /** Whether imports have brought the hits. Both kinds when absent. */
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
  /** How many days and months this call has rolled up. After any, another call may do more. */
  rolled: number
  /** Closed days that are not rolled up. Some of them may have to wait, because their hits still arrive. */
  waiting: number
  /** The roll-up failed, was logged, and rests. Another call tries another one. */
  failed?: true
}

/**
 * A question for each visitor's last click before a moment, for many moments at once. A click is a redirect of a
 * person that this server has recorded: imported hits are of visitors that nobody can find again.
 */
export interface LastClicksQuery {
  workspaceId: number
  /** Visitors with their whole hash. Milliseconds since the epoch. A click in the same millisecond counts as before the moment. */
  moments: { visitor: string; at: number }[]
  /** Only a click that is younger than this at the moment counts. */
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

/** What a feed shows of a click. */
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

/** The content of an engine, for a comparison with the counters of links. */
export interface HitInspection {
  /** Such as `DuckDB v1.5.6`. */
  version: string
  /** The last batch of each node. The engine held these batches when it began to count. */
  marks: Record<string, number>
  /** The marks after counting: the clicks include no later batch. */
  marksAfter: Record<string, number>
  /** Absent when only the marks were asked for. */
  clicks?: LinkClicks
}

export interface HitEngine {
  /** The number of the last batch of `node` that the engine holds; 0 when it holds none. */
  mark(node: string): Promise<number>
  /**
   * Loads a batch and its number in one transaction, synced to the disk. A batch that the engine holds already changes
   * nothing. A visitor belongs to one UTC day: the engine stores each with the day of its hit (day-visitor.ts).
   * @throws for a batch that does not follow the mark, and for a malformed one, of which nothing stays behind
   */
  load(batch: Batch): Promise<void>
  /** Declares the batches of `node` up to `through` lost, so that later ones can be loaded. Never lowers a mark. */
  skip(node: string, through: number): Promise<void>
  ask(query: HitQuery): Promise<HitAnswer[]>
  /** The answer of `ask`, and its origin. */
  explain(query: HitQuery): Promise<ExplainedAnswer>
  /**
   * Rolls up closed UTC days that are not rolled up yet, the last `RECENT_DAYS` before older ones, the oldest of each first,
   * and then months whose days are all rolled up: as much as takes a moment. Answers stay the same, and become faster. One call at a time.
   * @param now milliseconds since the epoch: a day is closed some minutes after its end
   */
  rollUp(now: number): Promise<RollUpProgress>
  /** One answer for each moment, in their order. Among clicks of the same millisecond the one recorded last counts. */
  findLastClicks(query: LastClicksQuery): Promise<(LastClick | null)[]>
  /** Writes the selected hits, oldest first, to one file in the export's directory. @throws when `signal` aborts */
  export(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /**
   * Deletes the hits recorded before this moment, those of unknown slugs too, wherever the engine keeps hits: from its
   * backup too.
   */
  deleteBefore(before: number): Promise<void>
  /**
   * Erases every hit of these workspaces, wherever the engine keeps hits: from its backup too, and from files that it
   * could not read. When it resolves, the engine's disks have none of them. Marks stay.
   */
  erase(workspaceIds: number[]): Promise<void>
  /** Deletes the hits of an import, wherever the engine keeps hits: from its backup too. */
  deleteImported(hits: ImportedHits): Promise<void>
  /** Links without a click are left out. */
  findLastClickTimes(workspaceId: number, linkIds: number[]): Promise<LastClickTime[]>
  /**
   * Each click is on one page, however late it comes. @throws where the answering server may lack earlier hits
   */
  readClicks(query: ClickPageQuery): Promise<ClickPage>
  /** Newest first. Clicks that imports have brought are left out. */
  listRecentClicks(query: RecentClicksQuery): Promise<RecentClick[]>
  /** @param withClicks counts all hits: a second on ten million */
  inspect(withClicks: boolean): Promise<HitInspection>
  /**
   * Writes a consistent copy of all hits and marks to `path`. It replaces an older copy only when it is complete.
   * Absent where the engine keeps copies of its own: what such an engine has loaded needs no batch any more.
   */
  backup?(path: string): Promise<void>
  close(): Promise<void>
}

/** The hits that an import has brought to a workspace. */
export interface ImportedHits {
  workspaceId: number
  importId: number
}

/** The time of the newest click of people on a link. */
export type LastClickTime = [linkId: number, at: number]

/** The part of an engine that questions need. */
export type HitReader = Pick<HitEngine, 'ask' | 'explain' | 'export'> & {
  /** Every hit recorded before this moment (milliseconds) is in the answers. */
  countedUntil(): number
}
