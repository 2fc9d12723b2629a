// The messages between the server and its hit worker.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import type { LogLevel } from '../../../lib/log.ts'
import type { LogFormat } from '../../../lib/telemetry/log-format.ts'
import type { TracingSettings } from '../../../lib/telemetry/tracing-settings.ts'
import type { HitExport, HitQuery, ImportedHits, LastClicksQuery } from '../../../storage/hits/hit-engine.ts'
import type { DailySalt } from '../../visitors/salts.ts'
import type { BatchRetention } from '../batches/batch-retention.ts'
import type { ClickCount } from '../batches/click-counts.ts'
import type { NewClicksQuery } from '../batches/new-clicks.ts'
import type { RollUpPace } from '../rollups/roll-up-loop.ts'
import type { WorkerCounts } from '../rollups/worker-counts.ts'
import type { SpoolPosition } from '../spool/position.ts'

export interface WorkerSettings {
  logLevel: LogLevel
  logFormat: LogFormat
  /** The receiver of traces; undefined without tracing. */
  tracing?: TracingSettings
  /** The server's version. */
  version: string
  dataDir: string
  spoolDir: string
  node: string
  salts: DailySalt[]
  /** Replicas of a ClickHouse server, with passwords. Without it, hits are in DuckDB. */
  clickHouseUrls?: string[]
  /** The name of the installation, for the database in ClickHouse. */
  instance?: string
  /** Hosts of this instance's short links, lower case. */
  ownHosts: string[]
  geoPath?: string
  /** The mark of this node in the rows: the last batch with counted clicks. */
  countedUpTo: number
  /** The last batch that channels were notified of. Absent without notifications. */
  toldUpTo?: number
  shipEveryMs: number
  /** The approximate maximum of hits in a batch. */
  maxHits: number
  batchRetention: BatchRetention
  pruneEveryMs: number
  /** Hits recorded before this moment are past their retention. 0 keeps all. */
  since: number
  /** The maximum size of batches that wait for the engine. Depends on the disk when absent (ship.ts). */
  batchBytesMax?: number
  /** The idle time after which the worker reports that it is idle. */
  idleMs: number
  rollUpPace: RollUpPace
}

/** Methods of the engine that the worker only passes on. */
export type EngineQuestion = 'findLastClickTimes' | 'readClicks' | 'listRecentClicks' | 'inspect'

/** A call to the worker. Each call gets one answer. */
export type WorkerCall =
  /** The question as `writeQuestion` writes it. The answer includes its origin. */
  | { type: 'ask'; question: string }
  /** Answered once the engine has all hits before the position `through` of the spool. */
  | { type: 'lastClicks'; query: LastClicksQuery; through: SpoolPosition }
  | { type: 'export'; request: HitExport }
  /** Removes the hits recorded before this moment. */
  | { type: 'prune'; since: number }
  | { type: 'erase'; workspaceIds: number[] }
  | { type: 'eraseImported'; hits: ImportedHits }
  | { type: EngineQuestion; args: unknown[] }
  /** Reads the clicks of batches after a position, for events. Earlier batches may be deleted from now on. */
  | { type: 'newClicks'; query: NewClicksQuery }

/** The request behind a call. */
export interface CallAsker {
  requestId: string
  /** The span to continue, if the request is traced. */
  traceparent?: string
}

export type MessageToWorker =
  /**
   * The first message, sent once. Other users can read arguments and environment, but must not see the salts and
   * passwords.
   */
  | { type: 'settings'; settings: WorkerSettings }
  | { type: 'salts'; salts: DailySalt[] }
  | { type: 'ownHosts'; ownHosts: string[] }
  | { type: 'call'; id: number; call: WorkerCall; asker?: CallAsker }
  /** The caller has canceled the call. */
  | { type: 'cancel'; id: number }
  /** The counts up to this batch are stored. */
  | { type: 'stored'; number: number }
  | { type: 'drain'; id: number }
  | { type: 'close' }

export type MessageFromWorker =
  /** The counts of one batch. The worker sends the next when these are stored. */
  | { type: 'counts'; number: number; counts: ClickCount[] }
  | { type: 'answer'; id: number; value: unknown }
  | { type: 'refusal'; id: number; message: string; unavailable: boolean }
  | { type: 'progress'; progress: WorkerProgress }
  | { type: 'drained'; id: number }
  /** The worker was idle for `idleMs`. Sent again after the same time. */
  | { type: 'idle' }
  | { type: 'closed' }

/** Counts are those of this worker. */
export interface WorkerProgress extends WorkerCounts {
  engineUp: boolean
  /** The last batch that was written. */
  batch: number
  /** The batches have every hit recorded before this time, and every hit before this position of the spool. */
  shipped: { until: number; position: SpoolPosition }
  /** The last batch in the engine. */
  mark: number
  /** The engine's answers include every hit recorded before this time. */
  until: number
  /** The engine's answers include every hit before this position of the spool. */
  position: SpoolPosition
  /** Batches that are not in the engine yet. */
  waiting: { batches: number; bytes: number }
  /** The maximum size of batches while the engine is unavailable; 0 before the first pass. */
  bytesMax: number
  /** Since the worker's start: batches that could not be read again, and the hits in them. */
  lost: { batches: number; hits: number }
}

const GROUPS_AT_ONCE = 2_000

/**
 * A question as text. Equal questions have equal texts. A question by tag, domain or slug names every link of a workspace;
 * sending 300,000 of them as objects would block the event loop for 300 ms.
 */
export function writeQuestion(query: HitQuery): string | Promise<string> {
  const { groupBy } = query
  if (groupBy.by !== 'linkGroup') return JSON.stringify(query)
  return writeGroups({ ...query, groupBy: { ...groupBy, groups: [] } }, groupBy.groups)
}

async function writeGroups(rest: HitQuery, groups: object[]): Promise<string> {
  const pace = createPacer()
  const pieces: string[] = []
  for (let from = 0; from < groups.length; from += GROUPS_AT_ONCE) {
    pieces.push(JSON.stringify(groups.slice(from, from + GROUPS_AT_ONCE)).slice(1, -1))
    await pace()
  }
  return `${JSON.stringify(rest)}\n[${pieces.join()}]`
}

export function readQuestion(text: string): HitQuery {
  // JSON contains no raw line breaks.
  const [rest = '', groups] = text.split('\n')
  const query: HitQuery = JSON.parse(rest)
  if (groups !== undefined && query.groupBy.by === 'linkGroup') query.groupBy.groups = JSON.parse(groups)
  return query
}
