// The state of the hit worker, which the files of this folder share.

import type { SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import type { BatchFile } from '../batches/batch-file.ts'
import type { HitImporter } from '../batches/hit-importer.ts'
import type { QuestionOrigins } from '../rollups/question-origins.ts'
import type { RollUpLoop } from '../rollups/roll-up-loop.ts'
import type { SpoolPosition } from '../spool/position.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { ClickCountSender } from './click-count-sender.ts'
import type { EngineSupervisor } from './engine-supervisor.ts'
import type { MessageFromWorker, WorkerSettings } from './protocol.ts'

/** The batches up to `batch` have every hit that was recorded before `until`, and every hit before `position`. */
export interface ShippedRange {
  /** Milliseconds since the epoch. */
  until: number
  batch: number
  position: SpoolPosition
}

export const NOTHING_SHIPPED: ShippedRange = { until: 0, batch: 0, position: { seq: 0, offset: 0 } }

export interface WorkerState {
  readonly settings: WorkerSettings
  send(message: MessageFromWorker): void
  /** See write-position.ts. */
  readonly writePosition: Int32Array
  readonly reader: SpoolReader
  readonly engine: EngineSupervisor
  readonly rollUps: RollUpLoop
  readonly clickCounts: ClickCountSender
  readonly importer: HitImporter
  /** See `createBatchWriter`. */
  writeBatches(): Promise<void>
  /** This node's batches in order. */
  readonly batches: BatchFile[]
  /** Batches of former spools, for an engine that must be rebuilt. */
  readonly otherBatches: readonly (readonly BatchFile[])[]
  /** The number of the last batch. */
  lastNumber: number
  /** The last batch that channels were notified of; undefined without notifications. */
  toldUpTo: number | undefined
  /** Hosts of this instance's short links, lower case. */
  ownHosts: ReadonlySet<string>
  /** Hits recorded before this moment are past their retention. */
  since: number
  /** The end of the batches. */
  shipped: ShippedRange
  /** The end of the engine's data. */
  answered: ShippedRange
  /** The maximum size of batches while the engine is unavailable. */
  bytesMax: number
  /** Batches that could not be read again, and the hits in them. */
  readonly lost: { batches: number; hits: number }
  /** The current pass; null between passes. */
  shipping: Promise<void> | null
  /** After a failed pass, no timer starts another pass before this time. */
  notBefore: number
  readonly importQueue: SerialQueue
  /** Deletions and rewrites of batches run in this queue, because two at a time would change each other's files. */
  readonly maintenanceQueue: SerialQueue
  /** The origins of this worker's answers. */
  origins: QuestionOrigins
  readonly runningExports: Map<number, AbortController>
  /** The number of running calls. */
  activeCalls: number
  /** When the worker was last busy. */
  busyAt: number
  readonly timers: Timer[]
  closing: boolean
}

/** Every node's batches. */
export const listAllBatches = ({ otherBatches, batches }: Pick<WorkerState, 'otherBatches' | 'batches'>) => [
  ...otherBatches,
  batches,
]

/**
 * True if batches wait for the engine, or files wait to become batches. Hits of the last half second in the spool do not
 * count, because a busy server always has some.
 */
export const hasBacklog = (worker: WorkerState): boolean =>
  worker.importer.hasFiles() ||
  listAllBatches(worker).some((list) => {
    const last = list.at(-1)
    return last !== undefined && worker.engine.mark(last.node) < last.number
  })
