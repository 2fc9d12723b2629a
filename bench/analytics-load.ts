// Fills a DuckDB file with generated hits through the product's own engine: bun bench/analytics-load.ts <directory> <hits>.
// It is a process of its own, so that its memory can be measured. It prints JSON.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { generateHits } from './hits-generator.ts'

/** After so many hits the engine gets time to sort, as it has between two batches of a running server. */
const SORT_EVERY = 200_000

export interface LoadReport {
  loadSeconds: number
  sortSeconds: number
  /** The peak of the whole process. */
  peakMb: number
}

const [directory = '', hits = '0'] = process.argv.slice(2)
mkdirSync(directory, { recursive: true })
const engine = await openDuckDb({ path: join(directory, 'hits.duckdb') })
const result: LoadReport = { loadSeconds: 0, sortSeconds: 0, peakMb: 0 }

async function timed(work: () => Promise<void>): Promise<number> {
  const before = performance.now()
  await work()
  return (performance.now() - before) / 1000
}

let unsorted = 0
for (const batch of generateHits({ hits: Number(hits) })) {
  const path = join(directory, 'batch.ndjson')
  writeFileSync(path, batch.lines)
  result.loadSeconds += await timed(() => engine.load({ node: 'bench', number: batch.number, path }))
  rmSync(path)
  unsorted += batch.hits
  if (unsorted < SORT_EVERY) continue
  unsorted = 0
  result.sortSeconds += await timed(() => engine.sorted())
}
result.loadSeconds += await timed(() => engine.close())
result.peakMb = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify(result))
