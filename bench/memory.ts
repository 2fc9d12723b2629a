// Measures the start, the memory and the idle work of a server: bun bench/memory.ts [<another checkout>] [--millions=2]
// [--links=100000] [--seconds=10]. Memory is measured after each million redirects, at once and once the hit worker has exited.

import {
  formatCount,
  measureIdleMs,
  note,
  print,
  readOptions,
  readResidentMemory,
  toTable,
} from './harness.ts'
import { load, redirectScript } from './load.ts'
import { type Contender, listVersions, seed, startTowpath } from './servers.ts'

const { words, ...options } = readOptions({ millions: 2, links: 100_000, seconds: 10 })
/** The hit worker finishes its work, and exits after 30 s without work. */
const IDLE_WITHIN_MS = 180_000

interface Use {
  /** MB of server and worker, a second after the last redirect, and of the server after the worker has exited. */
  busyMb: number
  idleMb: number
  /** Milliseconds of processor time in an idle second, with the worker and without it. */
  busyMs: number
  idleMs: number
}

async function measure({ pid }: Contender): Promise<Use> {
  await Bun.sleep(1000)
  const { server, worker } = readResidentMemory(pid)
  await Bun.sleep(5000)
  const busyMs = await measureIdleMs(pid, options.seconds)
  for (const late = Date.now() + IDLE_WITHIN_MS; readResidentMemory(pid).worker > 0; await Bun.sleep(500))
    if (Date.now() > late) throw new Error('The hit worker did not exit')
  await Bun.sleep(2000)
  const idleMb = readResidentMemory(pid).server
  return { busyMb: server + worker, idleMb, busyMs, idleMs: await measureIdleMs(pid, options.seconds) }
}

async function sendRedirects(server: Contender, count: number): Promise<number> {
  let answered = 0
  while (answered < count)
    answered += (await load(server, { seconds: 5, script: redirectScript(options.links) })).perSecond * 5
  return answered
}

const rows: (string | number)[][] = []
for (const version of listVersions(words)) {
  await seed({ ...version, links: options.links })
  // The first start of a version makes its files, and is not measured.
  await (await startTowpath({}, version)).end()
  const startedAt = performance.now()
  const server = await startTowpath({}, version)
  const readyMs = performance.now() - startedAt
  const addRow = (what: string, { busyMb, idleMb, busyMs, idleMs }: Use) => {
    const figures = [busyMb.toFixed(0), idleMb.toFixed(0), busyMs.toFixed(1), idleMs.toFixed(1)]
    rows.push([version.name, what, ...figures])
    note(`${version.name}: ${what}`)
  }
  try {
    addRow(`ready after ${readyMs.toFixed(0)} ms, no requests`, await measure(server))
    let total = 0
    while (total < options.millions * 1e6) {
      total += await sendRedirects(server, Math.min(1e6, options.millions * 1e6 - total))
      const what = `${(total / 1e6).toFixed(1)} million redirects to ${formatCount(options.links)} links`
      addRow(what, await measure(server))
    }
  } finally {
    await server.end()
  }
}
const header = ['server', 'after', 'MB at once, with the worker', 'MB idle']
print(toTable([...header, 'idle processor ms/s, with the worker', 'without it'], rows))
process.exit(0)
