// bun bench/ingest.ts [hits]: how fast recorded hits become answers, through the real worker, and what each step costs.
// Hits per second are wall time from a full spool to the last one in the engine, worker start included.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openShipper, type Shipper } from '../server/features/hits/ship.ts'
import { openSpool } from '../server/features/hits/spool.ts'
import { setLogLevel } from '../server/lib/log.ts'
import { HIT_CLASSES } from '../server/storage/hits/hit.ts'
import { fill, START, WORKSPACES } from './clicks.ts'
import { costs } from './ingest-costs.ts'

const HITS = Number(process.argv[2] ?? 2_000_000)
const COST_HITS = 300_000
const RUNS = 3

/** From a full spool to the last hit in the engine. @returns hits per second */
async function ingest(dir: string, hits: number): Promise<number> {
  const spool = await openSpool({ dir: join(dir, 'spool') })
  await fill(spool, hits)
  await Bun.$`sync`.quiet()
  let counted = 0
  const start = performance.now()
  const shipper = openShipper({
    dataDir: dir,
    spool,
    salts: [{ day: '2026-06-10', salt: '5a'.repeat(32) }],
    ownHosts: ['go.example'],
    countedUpTo: 0,
    async onShipped({ counts }) {
      for (const [, clicks] of counts) counted += clicks
    },
  })
  await shipper.drain()
  const seconds = (performance.now() - start) / 1000
  const found = await countAll(shipper)
  await shipper.close()
  await spool.close()
  if (found !== hits) throw new Error(`${hits} hits were recorded and ${found} are in the engine`)
  process.stderr.write(`${hits} hits in ${seconds.toFixed(1)} s, ${counted} of them clicks of people\n`)
  return hits / seconds
}

async function countAll(shipper: Shipper): Promise<number> {
  let found = 0
  for (let workspaceId = 1; workspaceId <= WORKSPACES; workspaceId++) {
    const everything = { start: 0, end: START * 2, classes: [...HIT_CLASSES], filters: [] }
    const [row] = await shipper.ask({ workspaceId, ...everything, groupBy: { by: 'total' } })
    found += row?.clicks ?? 0
  }
  return found
}

setLogLevel('error')
const dir = mkdtempSync(join(tmpdir(), 'towpath-ingest-'))
try {
  const runs: number[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await ingest(join(dir, `${run}`), HITS))
  const middle = runs.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] as number
  const shown = (n: number) => Math.round(n).toLocaleString('en-US')
  process.stdout.write(
    `From spool to engine: ${shown(middle)} hits/s (runs: ${runs.map(shown).join('; ')})\n\n`,
  )
  process.stdout.write(`${await costs(join(dir, 'costs'), COST_HITS)}\n`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
