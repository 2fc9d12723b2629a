// Messages between the reader and the server about a click history: the reader asks for links and for the results of
// earlier imports, and hands over chunks of hits.

import type { FieldProblem } from '../files/source-file.ts'
import type { SourceClick } from '../sources/source.ts'

/** One row of a history, as a source reads it. */
export interface HistoryRow {
  row: number
  /** Name the click's link, the most certain one first. */
  keys: string[]
  /** null where `problems` says why. */
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
  /** Clicks after this moment are refused. It is the same one when a restarted server goes on. */
  now: number
  /** Clicks before this moment are past their retention: links count them, and no engine stores them. */
  since: number
  /** The number of settled rows, which are in stored chunks. */
  settled: number
  /** The number of stored chunks. */
  chunks: number
  /** Whether other imports have clicks of the workspace. Then only clicks that they lack are new. */
  hasEarlier: boolean
  /** Counts, and writes no file. */
  dryRun: boolean
  /** The hits of a chunk, where they are fewer than usual. */
  maxHits?: number
}

/** A chunk's additions to a link on a UTC day. */
export type DayAddition = [linkId: number, day: number, clicks: number, counted: number, lastAt: number]

/** Clicks of people that are past their retention: they are in no file, and counted at once. */
export type AgedClicks = [linkId: number, clicks: number, lastAt: number]

export interface ProblemRow extends FieldProblem {
  row: number
}

/** A part of a history. Its hits are in a hidden file until the chunk is stored. */
export interface HistoryChunk {
  /** null without a file. */
  number: number | null
  /** How many rows of the history are settled with this chunk. */
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
  /** Answered with the id of each key's link; 0 where there is none. */
  | { type: 'links'; keys: string[] }
  /** Answered with the number of clicks that other imports have for each pair. */
  | { type: 'brought'; pairs: LinkDays }
  /** Answered once the chunk is stored. */
  | { type: 'chunk'; chunk: HistoryChunk }

export type HistoryReply = number[] | null

export type SendToServer = (message: HistoryMessage) => Promise<HistoryReply>
