// Messages between the reader and the server about a click history: the reader asks for links and for the results of
// earlier imports, and hands over chunks of hits.

import type { FieldProblem } from '../files/source-file.ts'
import type { SourceClick } from '../sources/source.ts'

/** One row of a history, as a source reads it. */
export interface HistoryRow {
  row: number
  /** Keys of the click's link, the most reliable one first. */
  keys: string[]
  /** null if there are `problems`. */
  click: SourceClick | null
  problems: FieldProblem[]
}

export interface ImportPlace {
  importId: number
  workspaceId: number
}

export interface HistoryTask extends ImportPlace {
  dataDir: string
  geoPath: string | undefined
  /** Hosts of this instance's short links, lower case. */
  ownHosts: string[]
  /** Clicks after this time are refused. It stays the same after a restart of the server. */
  now: number
  /** Clicks before this time are past their retention: links count them, but no engine stores them. */
  since: number
  /** The number of rows in stored chunks. */
  settled: number
  /** The number of stored chunks. */
  chunks: number
  /** True if other imports have clicks of the workspace. Then only clicks that they lack are new. */
  hasEarlier: boolean
  /** Counts, and writes no file. */
  dryRun: boolean
  /** The maximum of hits in a chunk, for tests. */
  maxHits?: number
}

/** A chunk's additions to a link on a UTC day. */
export type DayAddition = [linkId: number, day: number, clicks: number, counted: number, lastAt: number]

/** Clicks of people that are past their retention: they are in no file, and counted immediately. */
export type AgedClicks = [linkId: number, clicks: number, lastAt: number]

export interface ProblemRow extends FieldProblem {
  row: number
}

/** A part of a history. Its hits are in a hidden file until the chunk is stored. */
export interface HistoryChunk {
  /** null without a file. */
  number: number | null
  /** The number of finished rows of the history, including this chunk. */
  settled: number
  clicks: number
  /** The time of the first of its clicks; null without any. */
  firstAt: number | null
  days: DayAddition[]
  aged: AgedClicks[]
  problems: ProblemRow[]
}

/** Pairs of link and day, one after the other. */
export type LinkDays = Float64Array

export type HistoryMessage =
  /** Answered with the id of each key's link; 0 without one. */
  | { type: 'links'; keys: string[] }
  /** Answered with the number of clicks that other imports have for each pair. */
  | { type: 'brought'; pairs: LinkDays }
  /** Answered once the chunk is stored. */
  | { type: 'chunk'; chunk: HistoryChunk }

export type HistoryReply = number[] | null

export type SendToServer = (message: HistoryMessage) => Promise<HistoryReply>
