// What the main thread and the ship worker say to each other.

import type { LogLevel } from '../../lib/log.ts'
import type { HitAnswer, HitQuery } from '../../storage/hits/engine.ts'
import type { ClickCount, Position } from './batches.ts'
import type { KeepLimits } from './pruning.ts'
import type { Salt } from './visitor.ts'

export interface WorkerSettings {
  logLevel: LogLevel
  dataDir: string
  spoolDir: string
  node: string
  /** See `Spool.shared`. */
  shared: Int32Array
  salts: Salt[]
  ownHosts: string[]
  geoPath?: string
  countedUpTo: number
  shipEveryMs: number
  maxHits: number
  keep: KeepLimits
  pruneEveryMs: number
}

export type ToWorker =
  | { type: 'salts'; salts: Salt[] }
  | { type: 'ownHosts'; ownHosts: string[] }
  | { type: 'ask'; id: number; query: HitQuery }
  /** The counts up to this batch are stored. */
  | { type: 'stored'; number: number }
  | { type: 'drain'; id: number }
  | { type: 'close' }

export type FromWorker =
  /** Counts of one batch; the next are sent when these are stored. */
  | { type: 'counts'; number: number; counts: ClickCount[] }
  | { type: 'answer'; id: number; rows: HitAnswer[] }
  | { type: 'refusal'; id: number; message: string; unavailable: boolean }
  | { type: 'progress'; progress: Progress }
  | { type: 'drained'; id: number }
  | { type: 'closed' }

export interface Progress {
  engineUp: boolean
  /** The last batch written, and the last one that the engine holds. */
  batch: number
  mark: number
  /** Every hit recorded before this moment is in the answers, and everything before this place of the spool. */
  until: number
  position: Position
}
