// The contract of a hit engine: it takes batches exactly once and answers questions. DuckDB is one; tests/contracts
// holds every engine to it.

import type { ColumnFilter } from '../filter-sql.ts'
import type { Hit, HitClass, HitDimension, HitOutcome } from './hit.ts'

/** An immutable file of described hits, newline-delimited JSON, one `Hit` a line. */
export interface Batch {
  node: string
  /** 1, 2, 3 … without gaps, per node. */
  number: number
  path: string
}

export type HitColumn = HitDimension | 'linkId' | 'class'

export type HitFilter = ColumnFilter<HitColumn>

export type HitGrouping =
  | { by: 'total' }
  /**
   * A hit belongs to the last bucket that starts at or before it. Whoever asks names the starts (ascending
   * milliseconds, the first at or before the query's start), so no engine needs an idea of time zones.
   */
  | { by: 'time'; starts: number[] }
  /** Hits without a value are counted under `nullAs`. */
  | { by: HitColumn; limit: number; nullAs: string }
  /** A link counts for each of its groups (its tags, its domain); `groups` names them link by link. */
  | { by: 'linkGroup'; groups: { linkId: number; group: string | number }[]; limit: number }

/** Which hits a question is about. Only hits whose outcome is `redirect` are clicks. */
export interface HitSelection {
  workspaceId: number
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
  classes: HitClass[]
  /** Clicks alone when absent. None at all is no hit. */
  outcomes?: HitOutcome[]
  filters: HitFilter[]
}

/** A question about hits as plain data. */
export interface HitQuery extends HitSelection {
  groupBy: HitGrouping
}

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface HitExport {
  selection: HitSelection
  format: ExportFormat
  /** A directory of this export's own, in the engine's scratch directory. */
  dir: string
  /** In `dir`: what links are called, as lines of `{"id", "slug", "domain"}`. */
  links: string
}

export interface ExportedFile {
  path: string
  bytes: number
}

/**
 * One row of an answer. `key` is null for the total (one row, always); for time it is the bucket's start in
 * milliseconds, in order, without empty buckets; else the column's value or the group. Rows of a column or group
 * come most clicks first; those with equally many in the order of their keys, so that answers are stable.
 */
export interface HitAnswer {
  key: string | number | null
  clicks: number
  /** Exact distinct count. */
  visitors: number
}

/** For each moment the click that this visitor had made last: of people, answered with a redirect. */
export interface LastClicksQuery {
  workspaceId: number
  /** Milliseconds since the epoch. A click in the moment itself is before it. */
  moments: { visitor: string; at: number }[]
  /** A click counts that is younger than this at its moment. */
  withinMs: number
}

/** `id` is unique within its node alone. */
export type LastClick = Pick<Hit, 'id' | 'at' | 'linkId'> & { node: string }

export interface HitEngine {
  /** Number of the last batch of `node` that the engine holds; 0 when it holds none. */
  mark(node: string): Promise<number>
  /**
   * Takes a batch with its number in one transaction, synced to disk. A batch the engine already holds changes
   * nothing; one that does not follow the mark is refused; a malformed one is an error that leaves nothing behind.
   */
  load(batch: Batch): Promise<void>
  /** Declares the batches of `node` up to `through` lost, so that later ones can be loaded. Never lowers a mark. */
  skip(node: string, through: number): Promise<void>
  ask(query: HitQuery): Promise<HitAnswer[]>
  /** One answer for each moment, in their order. Of clicks in the same millisecond the one recorded last. */
  findLastClicks(query: LastClicksQuery): Promise<(LastClick | null)[]>
  /** Writes the selected clicks, oldest first, to one file in the export's directory. An abort ends it with an error. */
  export(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /** Removes hits recorded before this moment, unknown slugs' too. */
  deleteBefore(before: number): Promise<void>
  /** Writes a consistent copy of all hits and marks to `path`, replacing it only when complete. */
  backup(path: string): Promise<void>
  close(): Promise<void>
}

/** The part of an engine that questions need. */
export type HitReader = Pick<HitEngine, 'ask' | 'export'> & {
  /** Every hit recorded before this moment (milliseconds) is in the answers. */
  countedUntil(): number
}
