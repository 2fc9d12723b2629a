// A hit worker and its spool, as the tests of hits open them: in a data directory of their own, and in the process of the
// test.

import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkerHere } from '../../../../tests/support/server/worker-here.ts'
import { until } from '../../../../tests/support/until.ts'
import type { HitQuery } from '../../../storage/hits/hit-engine.ts'
import { DEFAULT_BATCH_RETENTION } from '../batches/batch-retention.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import type { BatchClickCounts } from './click-count-receiver.ts'
import { type HitWorkerClient, type HitWorkerClientOptions, openHitWorkerClient } from './client.ts'

export interface TestHitWorker {
  dataDir: string
  spool: Spool
  hitWorker: HitWorkerClient
  /** Additions to the counters of the links, by batch. */
  stored: BatchClickCounts[]
  /** How many workers run. */
  countRunning(): number
  stop(): Promise<void>
}

export interface TestHitWorkerOptions extends Partial<HitWorkerClientOptions> {
  segmentBytes?: number
  /** With a small number the worker prunes batches, and so backs up the engine. */
  keepFiles?: number
}

const closing: (() => unknown)[] = []

/** For `afterEach`: closes the workers of a test, and deletes their directories. */
export async function closeTestWorkers(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close()
}

export function createTestDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-hits-'))
  closing.push(() => rmSync(dir, { recursive: true }))
  return dir
}

export async function openTestHitWorker({
  dataDir = createTestDataDir(),
  segmentBytes = 256 * 1024,
  keepFiles = 1e6,
  storeCounts,
  startWorker = startWorkerHere,
  ...options
}: TestHitWorkerOptions = {}): Promise<TestHitWorker> {
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes })
  const stored: BatchClickCounts[] = []
  let running = 0
  const hitWorker = openHitWorkerClient({
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: 0,
    shipEveryMs: 20,
    batchRetention: { ...DEFAULT_BATCH_RETENTION, files: keepFiles },
    pruneEveryMs: 50,
    ...options,
    async storeCounts(counts) {
      await storeCounts?.(counts)
      stored.push(counts)
    },
    startWorker(settings, { onMessage, onExit }) {
      running++
      return startWorker(settings, {
        onMessage,
        onExit(reason) {
          running--
          onExit(reason)
        },
      })
    },
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= hitWorker.close().then(() => spool.close())
    return stopped
  }
  closing.push(stop)
  return { dataDir, spool, hitWorker, stored, countRunning: () => running, stop }
}

export const toTotalQuery = (workspaceId = 1, change: Partial<HitQuery> = {}): HitQuery => ({
  workspaceId,
  start: 0,
  end: 1e15,
  classes: ['human'],
  filters: [],
  groupBy: { by: 'total' },
  ...change,
})

export const askClicks = async (
  { hitWorker }: Pick<TestHitWorker, 'hitWorker'>,
  workspaceId = 1,
): Promise<number> => (await hitWorker.ask(toTotalQuery(workspaceId)))[0]?.clicks ?? 0

/** Once everything is loaded: the engine is opened again after some accidents and erasures. */
export async function askSettledClicks(worker: Pick<TestHitWorker, 'hitWorker'>, workspaceId = 1) {
  await until('the engine is open', () => worker.hitWorker.state().engineUp)
  await worker.hitWorker.drain()
  return askClicks(worker, workspaceId)
}

/** How many clicks the counters of all links got. */
export const sumCounts = (stored: BatchClickCounts[]): number =>
  stored.flatMap(({ counts }) => counts).reduce((total, [, clicks]) => total + clicks, 0)

/** The files below a directory that contain the text. */
export async function listFilesWith(dir: string, text: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  // The worker deletes batches meanwhile: a file that is gone holds nothing.
  const read = (file: string) => readFile(file).catch(() => Buffer.alloc(0))
  const found = await Promise.all(files.map(async (file) => (await read(file)).includes(text)))
  return files.filter((_, n) => found[n]).map((file) => file.slice(dir.length + 1))
}
