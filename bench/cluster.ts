// bun bench/cluster.ts: what several processes on one PostgreSQL and one ClickHouse cost beside one, as ratios of one run. Alternating rounds,
// medians. It prints a table for docs/benchmarks.md.

import { readdirSync, readFileSync } from 'node:fs'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import { load, redirectScript, requireWrk } from './load.ts'
import { median } from './median.ts'
import { type Contender, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'
import { formatVerdict } from './verdict.ts'

const ROUNDS = 9
const SECONDS = 3
const LINKS = 1000
const CONNECTIONS = 48
const WORKERS = 3
const WARM_REDIRECTS = 150_000
const TARGET = 0.9
const IDLE_SECONDS = 8

/** A process and all that it has started (Linux: proc(5), `/proc/pid/task/tid/children`). */
function listProcesses(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  return [pid, ...children.map(Number).flatMap(listProcesses)]
}

/** Linux: USER_HZ, which has been 100 on every common machine. */
const TICKS_A_SECOND = 100

/** Seconds of processor time, with that of threads which have ended (Linux: proc_pid_stat(5), `utime` and `stime`). */
const measureProcessorSeconds = (pids: number[]) =>
  pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
  }, 0)

const isHitWorker = (pid: number) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('hits/worker/main.ts')

/** Milliseconds of processor time in a second without a request: polls, heartbeats and timers of each process. */
async function measureIdleMs({ pid }: Contender): Promise<number> {
  const all = listProcesses(pid)
  const before = measureProcessorSeconds(all)
  await Bun.sleep(IDLE_SECONDS * 1000)
  return ((measureProcessorSeconds(all) - before) * 1000) / IDLE_SECONDS
}

const toIdleRow = ([one = Number.NaN, several = Number.NaN]: number[]) =>
  `| processor time without a request, ms a second | ${one.toFixed(1)} | ${several.toFixed(1)} | ${(several / one).toFixed(2)} | | |`

interface Round {
  perSecond: number
  failed: number
  /** Redirects for each second of processor time: of the processes that answer, and with their hit workers. */
  perServerSecond: number
  perSecondOfAll: number
}

async function measure({ port, pid }: Contender): Promise<Round> {
  const all = listProcesses(pid)
  const servers = all.filter((each) => !isHitWorker(each))
  const before = [measureProcessorSeconds(servers), measureProcessorSeconds(all)] as const
  const script = redirectScript(LINKS - 1)
  const { perSecond, failed } = await load(port, { connections: CONNECTIONS, seconds: SECONDS, script })
  const redirects = perSecond * SECONDS
  return {
    perSecond,
    failed,
    perServerSecond: redirects / (measureProcessorSeconds(servers) - before[0]),
    perSecondOfAll: redirects / (measureProcessorSeconds(all) - before[1]),
  }
}

/** A process is at its speed when its code is compiled for it, and several share the requests that cause that. */
async function warmUp({ port }: Contender, processes: number): Promise<void> {
  for (let redirects = 0; redirects < WARM_REDIRECTS * processes; )
    redirects += (await load(port, { connections: CONNECTIONS, seconds: SECONDS })).perSecond * SECONDS
}

async function measureRedirects(databaseUrl: string, clickHouseUrl: string): Promise<string[]> {
  const environment = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickHouseUrl,
    TOWPATH_SECRET: 'cluster-'.repeat(5),
  }
  const db = await openDatabase({ dataDir: TOWPATH_DIR, databaseUrl })
  await seedLinks(db, LINKS)
  await db.close()
  const start = (workers: number) =>
    startTowpath({ ...environment, WORKERS: String(workers), DATA_DIR: `${TOWPATH_DIR}-${workers}` })
  const contenders = [await start(1), await start(WORKERS)]
  const rounds: Round[][] = contenders.map(() => [])
  const idleMs: number[] = []
  try {
    await warmUp(contenders[0] as Contender, 1)
    await warmUp(contenders[1] as Contender, WORKERS)
    for (const contender of contenders) idleMs.push(await measureIdleMs(contender))
    for (let round = 0; round < ROUNDS; round++) {
      for (let n = 0; n < contenders.length; n++) {
        // Each comes first as often as the other.
        const i = (n + round) % contenders.length
        rounds[i]?.push(await measure(contenders[i] as Contender))
      }
      process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`)
    }
  } finally {
    for (const contender of contenders) await contender.end()
  }
  return [...toRows(rounds), toIdleRow(idleMs)]
}

function toRows(rounds: Round[][]): string[] {
  const [one = [], several = []] = rounds
  const toRatio = (what: keyof Round) =>
    median(several.map((round, n) => round[what] / (one[n]?.[what] ?? Number.NaN)))
  const toText = (of: Round[], what: keyof Round) =>
    Math.round(median(of.map((round) => round[what]))).toLocaleString('en-US')
  const failed = rounds.flat().reduce((sum, round) => sum + round.failed, 0)
  const speed = `| redirects a second | ${toText(one, 'perSecond')} | ${toText(several, 'perSecond')} | | | |`
  const judged = (
    [
      ['redirects a processor-second', 'perServerSecond'],
      ['the same, with the hit workers', 'perSecondOfAll'],
    ] as const
  ).map(([name, what]) => {
    const ratio = toRatio(what)
    const verdict = formatVerdict(ratio >= TARGET && failed === 0)
    const cells = [name, toText(one, what), toText(several, what), ratio.toFixed(2), `${TARGET}`, verdict]
    return `| ${cells.join(' | ')} |`
  })
  return [speed, ...judged]
}

requireWrk()
const [postgres, clickHouse] = await Promise.all([startPostgres(), startClickHouse()])
try {
  const rows = await measureRedirects(postgres.url, clickHouse.url)
  process.stdout.write(
    [
      `| what | one process | ${WORKERS} processes | ratio | at least | |`,
      '|---|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n'),
  )
} finally {
  await Promise.all([postgres.end(), clickHouse.end()])
}
process.exit(0)
