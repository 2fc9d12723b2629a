// Measures the import of a click history: bun bench/import.ts [--thousands=1000] [--rounds=3] [--seconds=4]. Clicks a second
// are from the request to the last click in the engine. Then redirects beside an import, and redirects alone.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listReaderProcesses, listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import {
  atLeast,
  atMost,
  type Contender,
  callApi,
  finish,
  formatCount,
  HOME,
  load,
  loadBeside,
  note,
  readOptions,
  readResidentMb,
  readTreeProcessorMs,
  runRounds,
  seed,
  startTowpath,
  toBesideTable,
  toTable,
} from './harness.ts'
import { USER_AGENT } from './pace.ts'

const options = readOptions({ thousands: 1000, rounds: 3, seconds: 4 })
const CLICKS = options.thousands * 1000
const LINKS = 1000
const START = Date.UTC(2025, 0, 1)
const YEAR_MS = 365 * 86_400_000
const AGENTS = Array.from({ length: 200 }, (_, n) => USER_AGENT.replace('17.5', `17.${n}`))
const REFERRERS = 'direct https://www.facebook.com/ https://t.co/x https://news.example/today?x=1'.split(' ')
const [CLICKS_PER_SECOND, ABOVE_IDLE_MB, TIMES_ALONE] = [50_000, 200, 2]

/** Some links have many clicks, and most have few. */
const chooseLink = (n: number) => Math.floor(LINKS * ((n * 0.618033988749895) % 1) ** 3)

/** YOURLS's tables, of links that no other round has. */
function writeTables(round: number): { file: string; clicks: string } {
  const [file, clicks] = [join(HOME, `url-${round}.csv`), join(HOME, `log-${round}.csv`)]
  const toTime = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const links = Array.from({ length: LINKS }, (_, n) => {
    const url = `https://shop.example/${n}?utm_campaign=c${n % 20}`
    return `"r${round}x${n}","${url}","Link ${n}","${toTime(START)}","192.0.2.1","${CLICKS / LINKS}"`
  })
  writeFileSync(file, ['"keyword","url","title","timestamp","ip","clicks"', ...links, ''].join('\n'))
  const lines = ['"click_id","click_time","shorturl","referrer","user_agent","ip_address","country_code"']
  const writer = Bun.file(clicks).writer()
  for (let n = 0; n < CLICKS; n++) {
    const time = toTime(START + Math.floor((n / CLICKS) * YEAR_MS))
    const address = `${80 + (n % 10)}.${(n * 7) % 256}.${(n * 13) % 256}.${n % 256}`
    const visitor = `"${REFERRERS[n % 5] ?? ''}","${AGENTS[(n * 17) % 200]}","${address}","DE"`
    lines.push(`"${n}","${time}","r${round}x${chooseLink(n)}",${visitor}`)
    if (lines.length < 5000) continue
    writer.write(`${lines.join('\n')}\n`)
    lines.length = 0
  }
  writer.write(`${lines.join('\n')}\n`)
  writer.end()
  return { file, clicks }
}

const sumMb = (pids: number[]) => pids.reduce((sum, pid) => sum + readResidentMb(pid), 0)
/** MB of the server with its reader, and of the hit worker. */
const readMb = ({ pid }: Contender) => [
  sumMb([pid, ...listReaderProcesses(pid)]),
  sumMb(listWorkerProcesses(pid)),
]

/** @returns clicks a second, once the engine has all clicks. @param watch is called five times a second */
async function runImport(server: Contender, key: string, round: number, watch = () => {}): Promise<number> {
  const tables = writeTables(round)
  const question = '/analytics/clicks?interval=all&class=all&imported=true'
  const countClicks = async () => (await callApi<{ clicks: number }>(server, key, question)).clicks
  const before = await countClicks()
  const body = new FormData()
  body.append('source', 'yourls')
  for (const [name, path] of Object.entries(tables)) body.append(name, Bun.file(path))
  const startedAt = performance.now()
  const { id } = await callApi<{ id: number }>(server, key, '/imports', body)
  for (;;) {
    watch()
    const { status } = await callApi<{ status: string }>(server, key, `/imports/${id}`)
    if (status === 'failed') throw new Error(`the import ${id} failed`)
    if (status === 'done' && (await countClicks()) - before >= CLICKS) break
    await Bun.sleep(200)
  }
  return (CLICKS * 1000) / (performance.now() - startedAt)
}

/** One import on all cores, beside nothing else. */
async function measureAlone(key: string) {
  const server = await startTowpath({}, { core: null })
  await load(server, { seconds: 1 })
  await Bun.sleep(3000)
  const [idle, before] = [readMb(server), readTreeProcessorMs(server.pid)]
  const peak = [0, 0]
  const perSecond = await runImport(server, key, 0, () => {
    for (const [i, mb] of readMb(server).entries()) peak[i] = Math.max(peak[i] ?? 0, mb)
  })
  const processorUs = ((readTreeProcessorMs(server.pid) - before) * 1000) / CLICKS
  await server.end()
  note(`alone: ${formatCount(perSecond)} clicks/s`)
  const [aboveMb = 0, workerMb = 0] = peak.map((mb, i) => mb - (idle[i] ?? 0))
  return [
    ['clicks a second, on all cores', formatCount(perSecond), atLeast(CLICKS_PER_SECOND, perSecond)],
    ['processor time of a click, all processes', `${processorUs.toFixed(1)} µs`, ''],
    ['server and reader above idle', `${aboveMb.toFixed(0)} MB`, atMost(ABOVE_IDLE_MB, aboveMb)],
    ['hit worker above idle', `${workerMb.toFixed(0)} MB`, ''],
  ]
}

const { key } = await seed()
const rows = await measureAlone(key)
const server = await startTowpath({}, { first: true })
await load(server, { seconds: 1 })
let number = 1
const start = () => ({ ended: runImport(server, key, number++) })
const run = () => loadBeside(server.port, options.seconds, start)
const [rounds = []] = await runRounds(options.rounds, [run])
finish(
  toTable([`${formatCount(CLICKS)} clicks`, '', ''], rows),
  toBesideTable('beside an import', rounds, TIMES_ALONE),
)
