// Measures questions about clicks from hits and from roll-ups: bun bench/analytics.ts [--millions=1,5,20,100] [--rounds=5].
// It prints tables for docs/benchmarks.md and draws a picture of the growth. A size above --generated (20 by default) is
// made of copies of the largest size up to it. With --postgres it asks the product's engine, with hits alone, and PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWithPostgres } from './analytics-comparison.ts'
import type { CopyReport } from './analytics-copies.ts'
import { measureSize, type SizeResult } from './analytics-growth.ts'
import type { LoadReport } from './analytics-load.ts'
import { drawGrowth } from './analytics-picture.ts'
import { toDayTable, toGrowthTable, toHistoryTable, toOriginTable, toPageTable } from './analytics-tables.ts'
import { runScript } from './run-script.ts'

const { values: options } = parseArgs({
  options: {
    millions: { type: 'string' },
    rounds: { type: 'string' },
    generated: { type: 'string', default: '20' },
    picture: { type: 'string', default: join(import.meta.dir, '../docs/images/roll-up-growth.svg') },
    postgres: { type: 'boolean', default: false },
  },
})
const startedAt = performance.now()
const print = (text: string) => process.stdout.write(`${text}\n`)
const note = (text: string) =>
  process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${text}\n`)

const toSizes = (text: string) => text.split(',').map(Number)

/** The largest generated size so far. */
let source: { millions: number; path: string } | undefined

/** Makes a file of hits without roll-ups. */
async function makeHits(millions: number, directory: string): Promise<string> {
  const generated = Number(options.generated)
  const path = join(directory, `${millions}`, 'hits.duckdb')
  if (millions <= generated) {
    const loaded = await runScript<LoadReport>(
      'analytics-load.ts',
      join(directory, `${millions}`),
      millions * 1e6,
    )
    note(`loaded in ${loaded.loadSeconds.toFixed(0)} s, sorted in ${loaded.sortSeconds.toFixed(0)} s`)
    if (source) rmSync(join(source.path, '..'), { recursive: true })
    source = { millions, path }
    return path
  }
  const copies = millions / (source?.millions ?? Number.NaN)
  if (!source || !Number.isInteger(copies))
    throw new Error(`${millions} million are no copies of ${source?.millions ?? 'nothing'}`)
  const { hits, seconds } = await runScript<CopyReport>('analytics-copies.ts', source.path, path, copies)
  if (hits !== millions * 1e6) throw new Error(`The copies have ${hits} hits`)
  note(`made ${copies} copies in ${seconds.toFixed(0)} s`)
  return path
}

async function measureGrowth(sizes: number[]) {
  const directory = mkdtempSync(join(tmpdir(), 'towpath-analytics-'))
  const results: SizeResult[] = []
  try {
    for (const millions of sizes) {
      note(`${millions} million clicks`)
      const path = await makeHits(millions, directory)
      const rounds = options.rounds ? Number(options.rounds) : millions > 20 ? 3 : 5
      const result = await measureSize({ millions, path, rounds }, note)
      results.push(result)
      print(`\n## ${millions} million clicks\n\n${toOriginTable(result)}`)
    }
    await drawGrowth(results, options.picture)
  } finally {
    // What was measured before a size that has failed.
    const tables = [toPageTable, toGrowthTable, toHistoryTable, toDayTable].map((toText) => toText(results))
    print(`\n## Growth\n\n${tables.join('\n\n')}`)
    rmSync(directory, { recursive: true, force: true })
  }
}

if (options.postgres)
  await compareWithPostgres(toSizes(options.millions ?? '1,5,20'), Number(options.rounds ?? 7))
else await measureGrowth(toSizes(options.millions ?? '1,5,20,100'))
process.exit(0)
