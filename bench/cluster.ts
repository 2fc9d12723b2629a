// Measures what several processes on one PostgreSQL and one ClickHouse cost beside one: bun bench/cluster.ts [--rounds=9]
// [--seconds=3] [--warm=150000]. All processes of a contender share one core. The figures are ratios of one run.

import { readFileSync } from 'node:fs'
import { startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import {
  type Contender,
  finish,
  formatCount,
  formatVerdict,
  listProcesses,
  load,
  measureProcessorMs,
  medianOf,
  medianRatio,
  readOptions,
  runRounds,
  seed,
  startTowpath,
  sumOf,
  sumProcessorMs,
  TOWPATH_DIR,
  toTable,
} from './harness.ts'

const options = readOptions({ rounds: 9, seconds: 3, warm: 150_000 })
const CONNECTIONS = 48
const WORKERS = 3
const TARGET = 0.95
const TOWPATH_SECRET = 'cluster-'.repeat(5)
const IDLE_SECONDS = 8

const isHitWorker = (pid: number) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('hits/worker/main.ts')

interface Round {
  perSecond: number
  failed: number
  /** Redirects for each second of processor time: of the processes that answer, and with their hit workers. */
  perServerSecond: number
  perSecondOfAll: number
}

async function measure(contender: Contender): Promise<Round> {
  const all = listProcesses(contender.pid)
  const servers = all.filter((each) => !isHitWorker(each))
  const before = [sumProcessorMs(servers), sumProcessorMs(all)] as const
  const { perSecond, failed } = await load(contender, { connections: CONNECTIONS, seconds: options.seconds })
  const redirects = perSecond * options.seconds * 1000
  return {
    perSecond,
    failed,
    perServerSecond: redirects / (sumProcessorMs(servers) - before[0]),
    perSecondOfAll: redirects / (sumProcessorMs(all) - before[1]),
  }
}

/** A process is at its speed when its code is compiled for it, and several share the requests that cause that. */
async function warmUp(contender: Contender, processes: number): Promise<void> {
  for (let redirects = 0; redirects < options.warm * processes; )
    redirects += (await load(contender, { connections: CONNECTIONS })).perSecond * 2
}

async function measureRedirects(databaseUrl: string, clickHouseUrl: string): Promise<string[][]> {
  await seed({ databaseUrl })
  const start = (workers: number) => {
    const stores = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickHouseUrl }
    const environment = { ...stores, TOWPATH_SECRET, WORKERS: String(workers) }
    return startTowpath(environment, { dataDir: `${TOWPATH_DIR}-${workers}` })
  }
  const contenders = [await start(1), await start(WORKERS)] as const
  await warmUp(contenders[0], 1)
  await warmUp(contenders[1], WORKERS)
  const idleMs: number[] = []
  for (const { pid } of contenders) idleMs.push(await measureProcessorMs(pid, IDLE_SECONDS))
  const runs = contenders.map((contender) => () => measure(contender))
  const results = await runRounds(options.rounds, runs)
  for (const contender of contenders) await contender.end()
  return toRows(results, idleMs as [number, number])
}

function toRows(rounds: Round[][], [oneIdle, severalIdle]: [number, number]): string[][] {
  const [one = [], several = []] = rounds
  const failed = sumOf(rounds.flat(), 'failed')
  const toRow = (name: string, key: keyof Round, target?: number) => {
    const ratio = medianRatio(several, one, key)
    const verdict = target ? `${target}: ${formatVerdict(ratio >= target && failed === 0)}` : ''
    return [name, ...[one, several].map((of) => formatCount(medianOf(of, key))), ratio.toFixed(2), verdict]
  }
  const idle = [oneIdle.toFixed(1), severalIdle.toFixed(1), (severalIdle / oneIdle).toFixed(2), '']
  return [
    toRow('redirects a second', 'perSecond'),
    toRow('redirects a processor-second', 'perServerSecond', TARGET),
    toRow('the same, with the hit workers', 'perSecondOfAll', TARGET),
    ['processor time without a request, ms a second', ...idle],
  ]
}

const [postgres, clickHouse] = await Promise.all([startPostgres({ durable: true }), startClickHouse()])
const rows = await measureRedirects(postgres.url, clickHouse.url)
await Promise.all([postgres.end(), clickHouse.end()])
finish(toTable(['what', 'one process', `${WORKERS} processes`, 'ratio', 'at least'], rows))
