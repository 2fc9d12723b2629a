// Measures the memory of a server with 100,000 links, and whether it grows under load: bun bench/memory.ts [millions of
// redirects]. It prints a table for docs/benchmarks.md.

import { load, redirectScript as redirectsTo, requireWrk } from './load.ts'
import { readResidentMemory } from './resident-memory.ts'
import { type Contender, startSeededTowpath } from './servers.ts'

const LINKS = 100_000
const MILLIONS = Number(process.argv[2] ?? 5)
const STEP = 1_000_000
/** The hit worker finishes its work, and exits after 30 s without work. */
const IDLE_WITHIN_MS = 180_000

interface MemoryUse {
  /** MB of server and worker, a second after the last redirect. */
  busy: number
  /** MB of the server after the worker has exited. */
  idle: number
}

async function measureMemory({ pid }: Contender): Promise<MemoryUse> {
  await Bun.sleep(1000)
  const { server, worker } = readResidentMemory(pid)
  for (const late = Date.now() + IDLE_WITHIN_MS; readResidentMemory(pid).worker > 0; await Bun.sleep(500))
    if (Date.now() > late) throw new Error('The hit worker did not exit')
  await Bun.sleep(2000)
  return { busy: server + worker, idle: readResidentMemory(pid).server }
}

async function sendRedirects(server: Contender, count: number): Promise<number> {
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
  const lines: [string, MemoryUse][] = [['started, no requests', await measureMemory(server)]]
  let total = 0
  for (let millions = 1; millions <= MILLIONS; millions++) {
    total += await sendRedirects(server, STEP)
    const label = `${(total / 1e6).toFixed(1)} million redirects to ${LINKS.toLocaleString('en-US')} links`
    lines.push([label, await measureMemory(server)])
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
