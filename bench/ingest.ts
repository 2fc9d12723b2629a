// bun bench/ingest.ts [hits]: how fast recorded hits become answers, through the real worker, and what each step costs.
// Hits per second are wall time from a full spool to the last one in the engine, worker start included.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openShipper } from '../server/features/hits/ship.ts'
import { openSpool } from '../server/features/hits/spool.ts'
import { setLogLevel } from '../server/lib/log.ts'
import { fill, START } from './clicks.ts'
import { costs } from './ingest-costs.ts'

const HITS = Number(process.argv[2] ?? 2_000_000)
const COST_HITS = 300_000
const RUNS = 3

/** Hits per second from the spool to the engine. */
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
  const classes = ['human', 'bot'] as const
  let found = 0
  for (let workspaceId = 1; workspaceId <= 50; workspaceId++) {
    const query = { workspaceId, start: 0, end: START * 2, filters: [], groupBy: { by: 'total' } } as const
    found += (await shipper.ask({ ...query, filters: [], classes: [...classes] }))[0]?.clicks ?? 0
  }
  await shipper.close()
  await spool.close()
  if (found !== hits) throw new Error(`${hits} hits were recorded and ${found} are in the engine`)
  process.stderr.write(`${hits} hits in ${seconds.toFixed(1)} s, ${counted} of them clicks of people\n`)
  return hits / seconds
}

setLogLevel('error')
const dir = mkdtempSync(join(tmpdir(), 'towpath-ingest-'))
try {
  const rates: number[] = []
  for (let run = 0; run < RUNS; run++) rates.push(await ingest(join(dir, `${run}`), HITS))
  const middle = rates.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0
  const shown = rates.map((rate) => Math.round(rate).toLocaleString('en-US')).join(', ')
  process.stdout.write(
    `From spool to engine: ${Math.round(middle).toLocaleString('en-US')} hits/s (runs: ${shown})\n\n`,
  )
  process.stdout.write(`${await costs(join(dir, 'costs'), COST_HITS)}\n`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
