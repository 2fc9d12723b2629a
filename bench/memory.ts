// bun bench/memory.ts [millions of redirects]: what the server holds in memory with 100,000 links known, and whether it
// grows while it answers. A table for docs/benchmarks.md.

import { load, redirectScript as redirectsTo, requireWrk } from './load.ts'
import { readResidentMemory } from './resident-memory.ts'
import { type Contender, startSeededTowpath } from './servers.ts'

const LINKS = 100_000
const MILLIONS = Number(process.argv[2] ?? 5)
const STEP = 1_000_000
/** The worker describes, loads and sorts what there is, and goes when there has been nothing to do for 30 s. */
const IDLE_WITHIN_MS = 180_000

interface Rested {
  /** MB of server and worker, a second after the last redirect. */
  busy: number
  /** MB when the worker has gone. */
  idle: number
}

async function rested({ pid }: Contender): Promise<Rested> {
  await Bun.sleep(1000)
  const { server, worker } = readResidentMemory(pid)
  for (const late = Date.now() + IDLE_WITHIN_MS; readResidentMemory(pid).worker > 0; await Bun.sleep(500))
    if (Date.now() > late) throw new Error('The ship worker did not go')
  await Bun.sleep(2000)
  return { busy: server + worker, idle: readResidentMemory(pid).server }
}

async function redirects(server: Contender, count: number): Promise<number> {
  let answered = 0
  while (answered < count) {
    const seconds = 5
    answered += (await load(server.port, { seconds, script: redirectsTo(LINKS) })).perSecond * seconds
  }
  return answered
}

requireWrk()
const server = await startSeededTowpath(LINKS)
try {
  const lines: [string, Rested][] = [['started, nothing asked', await rested(server)]]
  let total = 0
  for (let millions = 1; millions <= MILLIONS; millions++) {
    total += await redirects(server, STEP)
    const label = `${(total / 1e6).toFixed(1)} million redirects to ${LINKS.toLocaleString('en-US')} links`
    lines.push([label, await rested(server)])
    process.stderr.write(`${label}\n`)
  }
  const rows = lines.map(
    ([label, { busy, idle }]) => `| ${label} | ${busy.toFixed(0)} | ${idle.toFixed(0)} |`,
  )
  process.stdout.write(
    ['| RSS, MB | server and worker, at once | idle |', '|---|---|---|', ...rows].join('\n'),
  )
  process.stdout.write('\n')
} finally {
  await server.end()
}
process.exit(0)
