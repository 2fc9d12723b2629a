// Measures how fast the real worker loads recorded hits: bun bench/ingest.ts [--hits=2000000] [--rounds=3]. Hits a second are
// wall time from a full spool to the last hit in the engine, including the start of the worker.

import { join } from 'node:path'
import { openSpool } from '../server/features/hits/spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from '../server/features/hits/worker/client.ts'
import { setLogLevel } from '../server/lib/log.ts'
import { HIT_CLASSES } from '../server/storage/hits/hit.ts'
import { GENERATED_WORKSPACES } from '../tests/support/hits/generate-hits.ts'
import {
  atLeast,
  finish,
  formatCount,
  HOME,
  median,
  medianOf,
  note,
  readOptions,
  readTreeProcessorMs,
  runRounds,
  toTable,
} from './harness.ts'
import { FIRST_HIT_AT, recordRawHits } from './raw-hits.ts'

const { hits, rounds } = readOptions({ hits: 2_000_000, rounds: 3 })
const TARGET = 200_000

interface Round {
  perSecond: number
  /** Processor time of a hit: this process, which stores the counts, and the worker. */
  processorUs: number
}

let runs = 0
async function ingest(): Promise<Round> {
  const dir = join(HOME, `ingest-${runs++}`)
  const spool = await openSpool({ dir: join(dir, 'spool') })
  await recordRawHits(spool, hits)
  await Bun.$`sync`.quiet()
  const before = readTreeProcessorMs(process.pid)
  const startedAt = performance.now()
  const hitWorker = openHitWorkerClient({
    dataDir: dir,
    spool,
    salts: [{ day: new Date(FIRST_HIT_AT).toISOString().slice(0, 10), salt: '5a'.repeat(32) }],
    ownHosts: ['go.example'],
    countedUpTo: 0,
    async storeCounts() {},
  })
  await hitWorker.drain()
  const seconds = (performance.now() - startedAt) / 1000
  const processorMs = readTreeProcessorMs(process.pid) - before
  const loaded = await countAll(hitWorker)
  await hitWorker.close()
  await spool.close()
  if (loaded !== hits) throw new Error(`${hits} hits were recorded and ${loaded} are in the engine`)
  note(`${formatCount(hits)} hits in ${seconds.toFixed(1)} s`)
  return { perSecond: hits / seconds, processorUs: (processorMs * 1000) / hits }
}

async function countAll(hitWorker: HitWorkerClient): Promise<number> {
  let count = 0
  const everything = { start: 0, end: FIRST_HIT_AT * 2, classes: [...HIT_CLASSES], filters: [] }
  for (let workspaceId = 1; workspaceId <= GENERATED_WORKSPACES; workspaceId++) {
    const [row] = await hitWorker.ask({ workspaceId, ...everything, groupBy: { by: 'total' } })
    count += row?.clicks ?? 0
  }
  return count
}

setLogLevel('error')
const [results = []] = await runRounds(rounds, [ingest])
const rates = results.map(({ perSecond }) => perSecond)
const us = medianOf(results, 'processorUs').toFixed(1)
const verdict = atLeast(TARGET, median(rates))
const row = [formatCount(median(rates)), rates.map(formatCount).join('; '), us, verdict]
finish(toTable(['from spool to engine, hits/s', 'runs', 'processor µs a hit', ''], [row]))
