// Measures how fast the real worker loads recorded hits, and the cost of each step: bun bench/ingest.ts [hits]. Hits per
// second are wall time from a full spool to the last hit in the engine, including the start of the worker.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSpool } from '../server/features/hits/spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from '../server/features/hits/worker/client.ts'
import { setLogLevel } from '../server/lib/log.ts'
import { HIT_CLASSES } from '../server/storage/hits/hit.ts'
import { GENERATED_WORKSPACES } from './hits-generator.ts'
import { measureCosts } from './ingest-costs.ts'
import { median } from './median.ts'
import { FIRST_HIT_AT, recordRawHits } from './raw-hits.ts'

const HITS = Number(process.argv[2] ?? 2_000_000)
const COST_HITS = 300_000
const RUNS = 3

/** From a full spool to the last hit in the engine. @returns hits per second */
async function ingest(dir: string, hits: number): Promise<number> {
  const spool = await openSpool({ dir: join(dir, 'spool') })
  await recordRawHits(spool, hits)
  await Bun.$`sync`.quiet()
  let counted = 0
  const start = performance.now()
  const hitWorker = openHitWorkerClient({
    dataDir: dir,
    spool,
    salts: [{ day: '2026-06-10', salt: '5a'.repeat(32) }],
    ownHosts: ['go.example'],
    countedUpTo: 0,
    async storeCounts({ counts }) {
      for (const [, clicks] of counts) counted += clicks
    },
  })
  await hitWorker.drain()
  const seconds = (performance.now() - start) / 1000
  const loaded = await countAll(hitWorker)
  await hitWorker.close()
  await spool.close()
  if (loaded !== hits) throw new Error(`${hits} hits were recorded and ${loaded} are in the engine`)
  process.stderr.write(`${hits} hits in ${seconds.toFixed(1)} s, ${counted} of them clicks of people\n`)
  return hits / seconds
}

async function countAll(hitWorker: HitWorkerClient): Promise<number> {
  let count = 0
  for (let workspaceId = 1; workspaceId <= GENERATED_WORKSPACES; workspaceId++) {
    const everything = { start: 0, end: FIRST_HIT_AT * 2, classes: [...HIT_CLASSES], filters: [] }
    const [row] = await hitWorker.ask({ workspaceId, ...everything, groupBy: { by: 'total' } })
    count += row?.clicks ?? 0
  }
  return count
}

setLogLevel('error')
const dir = mkdtempSync(join(tmpdir(), 'towpath-ingest-'))
try {
  const runs: number[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await ingest(join(dir, `${run}`), HITS))
  const format = (n: number) => Math.round(n).toLocaleString('en-US')
  process.stdout.write(
    `From spool to engine: ${format(median(runs))} hits/s (runs: ${runs.map(format).join('; ')})\n\n`,
  )
  process.stdout.write(`${await measureCosts(join(dir, 'costs'), COST_HITS)}\n`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
