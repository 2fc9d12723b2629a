// Measures the start, the memory and the idle work of a server: bun bench/memory.ts [<another checkout>] [--millions=2]
// [--links=100000] [--seconds=10]. Memory is measured after each million redirects, at once and once the hit worker has exited.

import {
  type Contender,
  finish,
  formatCount,
  listVersions,
  load,
  measureProcessorMs,
  note,
  readOptions,
  readResidentMemory,
  redirectScript,
  seed,
  startTowpath,
  toTable,
} from './harness.ts'

const { words, millions, links, seconds } = readOptions({ millions: 2, links: 100_000, seconds: 10 })
/** The hit worker finishes its work, and exits after 30 s without work. */
const IDLE_WITHIN_MS = 180_000

/** @returns MB at once and idle, and milliseconds of processor time in an idle second, with the worker and without it */
async function measure({ pid }: Contender): Promise<string[]> {
  await Bun.sleep(1000)
  const { server, worker } = readResidentMemory(pid)
  await Bun.sleep(5000)
  const busyMs = await measureProcessorMs(pid, seconds)
  for (const late = Date.now() + IDLE_WITHIN_MS; readResidentMemory(pid).worker > 0; await Bun.sleep(500))
    if (Date.now() > late) throw new Error('The hit worker did not exit')
  await Bun.sleep(2000)
  const idleMb = readResidentMemory(pid).server
  const idleMs = await measureProcessorMs(pid, seconds)
  return [(server + worker).toFixed(0), idleMb.toFixed(0), busyMs.toFixed(1), idleMs.toFixed(1)]
}

async function sendRedirects(server: Contender, count: number): Promise<number> {
  let answered = 0
  while (answered < count)
    answered += (await load(server, { seconds: 5, script: redirectScript({ slugs: links }) })).perSecond * 5
  return answered
}

const rows: string[][] = []
for (const version of listVersions(words)) {
  await seed({ ...version, links })
  // The first start of a version makes its files, and is not measured.
  await (await startTowpath({}, version)).end()
  const startedAt = performance.now()
  const server = await startTowpath({}, version)
  const readyMs = performance.now() - startedAt
  const addRow = async (what: string) => {
    rows.push([version.name, what, ...(await measure(server))])
    note(`${version.name}: ${what}`)
  }
  await addRow(`ready after ${readyMs.toFixed(0)} ms, no requests`)
  for (let total = 0; total < millions * 1e6; ) {
    total += await sendRedirects(server, Math.min(1e6, millions * 1e6 - total))
    await addRow(`${(total / 1e6).toFixed(1)} million redirects to ${formatCount(links)} links`)
  }
  await server.end()
}
const header = ['server', 'after', 'MB at once, with the worker', 'MB idle']
finish(toTable([...header, 'idle processor ms/s, with the worker', 'without it'], rows))
