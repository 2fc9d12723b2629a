// Measures the import of a click history: bun bench/import.ts [thousand clicks of a round]. Clicks a second are from the
// request to the last click in the engine, and include the reading. A redirect's p99 beside an import is compared with its
// p99 alone, in alternating rounds of one run. Redirects come at a steady pace.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../server/features/accounts/access/keys.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { load, requireWrk, USER_AGENT } from './load.ts'
import { median } from './median.ts'
import { loadAtPace, type PacedResult } from './paced-load.ts'
import { type Contender, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'
import { formatVerdict } from './verdict.ts'

const CLICKS = Number(process.argv[2] ?? 1000) * 1000
const LINKS = 1000
const ROUNDS = Number(process.argv[3] ?? 3)
const SECONDS = 4
const START = Date.UTC(2025, 0, 1)
const YEAR_MS = 365 * 86_400_000
const AGENTS = Array.from({ length: 200 }, (_, n) => USER_AGENT.replace('17.5', `17.${n}`))
const REFERRERS = [
  'direct',
  'https://www.facebook.com/',
  'https://t.co/x',
  'https://news.example/today?x=1',
  '',
]

const [CLICKS_PER_SECOND, ABOVE_IDLE_MB, TIMES_ALONE] = [50_000, 200, 2]

/** Some links have many clicks, and most have few. */
const chooseLink = (n: number) => Math.floor(LINKS * ((n * 0.618033988749895) % 1) ** 3)

/** YOURLS's tables, of links that no other round has. */
function writeTables(round: number): { file: string; clicks: string } {
  const file = join(TOWPATH_DIR, `url-${round}.csv`)
  const clicks = join(TOWPATH_DIR, `log-${round}.csv`)
  const toTime = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const links = Array.from(
    { length: LINKS },
    (_, n) =>
      `"r${round}x${n}","https://shop.example/${n}?utm_campaign=c${n % 20}","Link ${n}","${toTime(START)}","192.0.2.1","${CLICKS / LINKS}"`,
  )
  writeFileSync(file, ['"keyword","url","title","timestamp","ip","clicks"', ...links, ''].join('\n'))
  const lines = ['"click_id","click_time","shorturl","referrer","user_agent","ip_address","country_code"']
  const writer = Bun.file(clicks).writer()
  for (let n = 0; n < CLICKS; n++) {
    const at = START + Math.floor((n / CLICKS) * YEAR_MS)
    const address = `${80 + (n % 10)}.${(n * 7) % 256}.${(n * 13) % 256}.${n % 256}`
    lines.push(
      `"${n}","${toTime(at)}","r${round}x${chooseLink(n)}","${REFERRERS[n % 5]}","${AGENTS[(n * 17) % 200]}","${address}","DE"`,
    )
    if (lines.length < 5000) continue
    writer.write(`${lines.join('\n')}\n`)
    lines.length = 0
  }
  writer.write(`${lines.join('\n')}\n`)
  writer.end()
  return { file, clicks }
}

interface Use {
  /** Resident MB by program. */
  memory: Record<string, number>
  /** Of the server and all its children, those that have ended too. */
  processorMs: number
}

/** What the server and its children use. */
function readUse(pid: number): Use {
  const use: Use = { memory: { server: 0, reader: 0, 'hit worker': 0 }, processorMs: 0 }
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const fields =
        readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? []
      if (Number(name) !== pid && fields[1] !== pid) continue
      const ticks = fields.slice(11, Number(name) === pid ? 15 : 13).reduce((sum, each) => sum + each, 0)
      use.processorMs += ticks * MS_PER_TICK
      const program = nameProgram(readFileSync(`/proc/${name}/cmdline`, 'utf8'))
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]
      use.memory[program] = (use.memory[program] ?? 0) + Number(kilobytes ?? 0) / 1024
    } catch {
      // The process has ended meanwhile.
    }
  }
  return use
}

const MS_PER_TICK = 10
const nameProgram = (command: string) =>
  command.includes('hits/worker/') ? 'hit worker' : command.includes('transfer/reader/') ? 'reader' : 'server'
const sum = (memory: Use['memory']) => Object.values(memory).reduce((total, each) => total + each, 0)

interface RunningImport {
  /** Resolves with clicks a second, once the engine has all clicks. */
  ended: Promise<number>
  isRunning(): boolean
  /** The memory of the moment that needed the most. */
  peak(): Use['memory']
}

function startImport(server: Contender, key: string, round: number): RunningImport {
  const tables = writeTables(round)
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${key}` },
    })
    if (!response.ok)
      throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`)
    return (
      (await response.json()) as { data: { id: number; status: string; clicks: number; problem: string } }
    ).data
  }
  let running = true
  let peak: Use['memory'] = {}
  const countClicks = async () =>
    (await call('/analytics/clicks?interval=all&class=all&imported=true')).clicks
  async function run(): Promise<number> {
    const before = await countClicks()
    const body = new FormData()
    body.append('source', 'yourls')
    body.append('file', Bun.file(tables.file))
    body.append('clicks', Bun.file(tables.clicks))
    const startedAt = performance.now()
    const { id } = await call('/imports', { method: 'POST', body })
    for (;;) {
      const { memory } = readUse(server.pid)
      if (sum(memory) > sum(peak)) peak = memory
      const { status, problem } = await call(`/imports/${id}`)
      if (status === 'failed') throw new Error(problem)
      if (status === 'done' && (await countClicks()) - before >= CLICKS) break
      await Bun.sleep(200)
    }
    return CLICKS / ((performance.now() - startedAt) / 1000)
  }
  const ended = run().finally(() => {
    running = false
  })
  return { ended, isRunning: () => running, peak: () => peak }
}

async function prepare(): Promise<string> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  const workspaceId = await seedLinks(db, 999)
  const { key } = await createKey({ db, now: Date.now }, workspaceId, 'bench')
  await db.close()
  return key
}

/** One import on all cores, beside nothing else. */
async function measureAlone(key: string) {
  const server = await startTowpath({}, { core: null })
  try {
    await load(server.port, { seconds: 1 })
    await Bun.sleep(3000)
    const idle = readUse(server.pid)
    const running = startImport(server, key, 0)
    const perSecond = await running.ended
    const processorUs = ((readUse(server.pid).processorMs - idle.processorMs) * 1000) / CLICKS
    process.stderr.write(`alone: ${Math.round(perSecond)} clicks/s\n`)
    const toMb = (program: string) => (running.peak()[program] ?? 0) - (idle.memory[program] ?? 0)
    return { perSecond, processorUs, aboveMb: toMb('server') + toMb('reader'), workerMb: toMb('hit worker') }
  } finally {
    await server.end()
  }
}

requireWrk()
const key = await prepare()
const alone = await measureAlone(key)
const server = await startTowpath({}, { first: true })
try {
  await load(server.port, { seconds: 1 })
  const rounds: { alone: PacedResult; beside: PacedResult[] }[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const alone = await loadAtPace(server.port, SECONDS)
    const running = startImport(server, key, round)
    const beside: PacedResult[] = []
    while (running.isRunning()) beside.push(await loadAtPace(server.port, SECONDS))
    await running.ended
    rounds.push({ alone, beside: beside.length > 1 ? beside.slice(0, -1) : beside })
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  const of = (figure: (round: (typeof rounds)[number]) => number) => median(rounds.map(figure))
  const p99 = (loads: PacedResult[]) => median(loads.map(({ p99Ms }) => p99Ms))
  const ratio = of(({ alone, beside }) => p99(beside) / alone.p99Ms)
  const { perSecond, processorUs, aboveMb, workerMb } = alone
  process.stdout.write(
    [
      `| ${CLICKS.toLocaleString('en-US')} clicks | | target | |`,
      '|---|---|---|---|',
      `| clicks a second, on all cores | ${Math.round(perSecond).toLocaleString('en-US')} | ≥ ${CLICKS_PER_SECOND.toLocaleString('en-US')} | ${formatVerdict(perSecond >= CLICKS_PER_SECOND)} |`,
      `| processor time of a click, all processes | ${processorUs.toFixed(1)} µs | | |`,
      `| server and reader above idle | ${aboveMb.toFixed(0)} MB | ≤ ${ABOVE_IDLE_MB} MB | ${formatVerdict(aboveMb <= ABOVE_IDLE_MB)} |`,
      `| hit worker above idle | ${workerMb.toFixed(0)} MB | | |`,
      `| redirects’ p99 alone | ${of(({ alone }) => alone.p99Ms).toFixed(2)} ms | | |`,
      `| redirects’ p99 beside an import, to alone | ${ratio.toFixed(2)} | ≤ ${TIMES_ALONE} | ${formatVerdict(ratio <= TIMES_ALONE)} |`,
      '',
    ].join('\n'),
  )
} finally {
  await server.end()
}
process.exit(0)
