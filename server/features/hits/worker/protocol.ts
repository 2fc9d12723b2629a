// What the server and its ship worker say to each other.

import type { LogLevel } from '../../../lib/log.ts'
import type { HitExport, HitQuery, LastClicksQuery } from '../../../storage/hits/hit-engine.ts'
import type { DailySalt } from '../../visitors/visitor-id.ts'
import type { ClickCount, SpoolPosition } from '../batches/batch-file.ts'
import type { BatchRetention } from '../batches/retention.ts'

export interface WorkerSettings {
  logLevel: LogLevel
  dataDir: string
  spoolDir: string
  node: string
  salts: DailySalt[]
  ownHosts: string[]
  geoPath?: string
  countedUpTo: number
  shipEveryMs: number
  maxHits: number
  batchRetention: BatchRetention
  pruneEveryMs: number
  /** Hits recorded before this moment are past their retention; 0 keeps all. */
  since: number
  /** How long there is nothing to do before it says so. */
  idleMs: number
}

/** What is asked, and answered, one by one. */
export type WorkerCall =
  | { type: 'ask'; query: HitQuery }
  /** To be answered once everything before this place of the spool can be in the answer. */
  | { type: 'lastClicks'; query: LastClicksQuery; through: SpoolPosition }
  | { type: 'export'; request: HitExport }
  /** Retention has moved on to this moment. */
  | { type: 'forget'; since: number }
  | { type: 'erase'; workspaceIds: number[] }

export type MessageToWorker =
  /** The first, and once: not in arguments or the environment, where others could read the salts. */
  | { type: 'settings'; settings: WorkerSettings }
  | { type: 'salts'; salts: DailySalt[] }
  | { type: 'ownHosts'; ownHosts: string[] }
  | { type: 'call'; id: number; call: WorkerCall }
  /** Nobody waits for the answer any more. */
  | { type: 'cancel'; id: number }
  /** The counts up to this batch are stored. */
  | { type: 'stored'; number: number }
  | { type: 'drain'; id: number }
  | { type: 'close' }

export type MessageFromWorker =
  /** Counts of one batch; the next are sent when these are stored. */
  | { type: 'counts'; number: number; counts: ClickCount[] }
  | { type: 'answer'; id: number; value: unknown }
  | { type: 'refusal'; id: number; message: string; unavailable: boolean }
  | { type: 'progress'; progress: WorkerProgress }
  | { type: 'drained'; id: number }
  /** Nothing is left to do; said again after a while. */
  | { type: 'idle' }
  | { type: 'closed' }

export interface WorkerProgress {
  engineUp: boolean
  /** The last batch written, and the last one that the engine holds. */
  batch: number
  mark: number
  /** Every hit recorded before this moment is in the answers, and everything before this place of the spool. */
  until: number
  position: SpoolPosition
  /** Batches that could not be read again, and the hits in them, since the worker's start. */
  lost: { batches: number; hits: number }
}
