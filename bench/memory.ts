// bun bench/memory.ts [millions of redirects]: what the server holds in memory with 100,000 links known, and whether it
// grows while it answers. A table for docs/benchmarks.md.

import { readFileSync } from 'node:fs'
import { load, needWrk, redirects as redirectsTo } from './load.ts'
import { type Contender, towpath } from './servers.ts'

const LINKS = 100_000
const MILLIONS = Number(process.argv[2] ?? 5)
const STEP = 1_000_000
/** Until what the last clicks need is done: described, loaded, sorted, given back. */
const REST_MS = 20_000

const megabytes = ({ pid }: Contender) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function rested(server: Contender): Promise<number> {
  await Bun.sleep(REST_MS)
  return megabytes(server)
}

async function redirects(server: Contender, count: number): Promise<number> {
  let answered = 0
  while (answered < count) {
    const seconds = 5
    answered += (await load(server.port, { seconds, script: redirectsTo(LINKS) })).perSecond * seconds
  }
  return answered
}

needWrk()
const server = await towpath(LINKS)
try {
  const lines: [string, number][] = [['started, nothing asked', await rested(server)]]
  let total = 0
  for (let millions = 1; millions <= MILLIONS; millions++) {
    total += await redirects(server, STEP)
    const label = `${(total / 1e6).toFixed(1)} million redirects to ${LINKS.toLocaleString('en-US')} links, then idle`
    lines.push([label, await rested(server)])
    process.stderr.write(`${label}\n`)
  }
  const rows = lines.map(([label, size]) => `| ${label} | ${size.toFixed(0)} |`)
  process.stdout.write(['| | RSS, MB |', '|---|---|', ...rows].join('\n'))
  process.stdout.write('\n')
} finally {
  await server.end()
}
process.exit(0)
