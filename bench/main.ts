// Measures redirects as ratios to bare servers, in alternating rounds of one run: npm run bench. It prints a table for
// docs/benchmarks.md. Absolute numbers depend on the machine and its other load; ratios depend much less.

import { type LoadResult, load, requireWrk } from './load.ts'
import { median } from './median.ts'
import { type Contender, startBareBun, startNginx, startSeededTowpath } from './servers.ts'

const ROUNDS = 7
const LINKS = 100_000

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

async function measure(contenders: Contender[]): Promise<Map<string, LoadResult[]>> {
  const results = new Map(contenders.map(({ name }) => [name, [] as LoadResult[]]))
  for (const { port } of contenders) await load(port, { seconds: 1 })
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { name, port } of shuffled(contenders)) results.get(name)?.push(await load(port))
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  return results
}

function table(results: Map<string, LoadResult[]>): string {
  const product = results.get('towpath') ?? []
  const lines = [...results].map(([name, rounds]) => {
    const ratio = median(rounds.map((round, i) => (product[i]?.perSecond ?? Number.NaN) / round.perSecond))
    const p99 = median(rounds.map((round, i) => (product[i]?.p99Ms ?? Number.NaN) / round.p99Ms))
    const cells = [
      name,
      Math.round(median(rounds.map((round) => round.perSecond))).toLocaleString('en-US'),
      median(rounds.map((round) => round.p50Ms)).toFixed(2),
      median(rounds.map((round) => round.p99Ms)).toFixed(2),
      ratio.toFixed(2),
      p99.toFixed(2),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| server | requests/s | p50 ms | p99 ms | towpath / it | towpath p99 / its |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}

requireWrk()
const contenders = [await startSeededTowpath(LINKS), await startBareBun(), await startNginx()].filter(
  (each) => each !== undefined,
)
try {
  const results = await measure(contenders)
  const failed = [...results.values()].flat().reduce((sum, { failed }) => sum + failed, 0)
  process.stdout.write(`${table(results)}\n\nFailed requests: ${failed}\n`)
} finally {
  for (const contender of contenders) await contender.end()
}
process.exit(0)
