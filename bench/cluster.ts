// Measures what several processes on one PostgreSQL and one ClickHouse cost beside one: bun bench/cluster.ts [--rounds=9]
// [--seconds=3] [--warm=150000]. All processes of a contender share one core. Then submissions to several processes, beside
// a loop that only inserts such rows, with as many to a commit. The figures are ratios of one run.

import { readFileSync } from 'node:fs'
import pg from 'pg'
import { startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import { SENDERS, startForms } from './forms-servers.ts'
import {
  atLeast,
  formatCount,
  formatVerdict,
  listProcesses,
  measureIdleMs,
  medianOf,
  medianRatio,
  print,
  readOptions,
  runRounds,
  sumProcessorMs,
  toTable,
} from './harness.ts'
import { load } from './load.ts'
import { type Contender, ROOT, seed, startTowpath, TOWPATH_DIR } from './servers.ts'

const options = readOptions({ rounds: 9, seconds: 3, warm: 150_000 })
const CONNECTIONS = 48
const WORKERS = 3
const TARGET = 0.95
const TOWPATH_SECRET = 'cluster-'.repeat(5)
const SHARE_OF_LOOP = 0.3
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
  try {
    await warmUp(contenders[0], 1)
    await warmUp(contenders[1], WORKERS)
    const idleMs: number[] = []
    for (const { pid } of contenders) idleMs.push(await measureIdleMs(pid, IDLE_SECONDS))
    const runs = contenders.map((contender) => () => measure(contender))
    return toRows(await runRounds(options.rounds, runs), idleMs as [number, number])
  } finally {
    for (const contender of contenders) await contender.end()
  }
}

function toRows(rounds: Round[][], [oneIdle, severalIdle]: [number, number]): string[][] {
  const [one = [], several = []] = rounds
  const failed = rounds.flat().reduce((sum, round) => sum + round.failed, 0)
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

async function measureSubmissions(databaseUrl: string, clickHouseUrl: string): Promise<string[][]> {
  const env = {
    CLICKHOUSE_URL: clickHouseUrl,
    DATABASE_URL: databaseUrl,
    TOWPATH_SECRET,
    WORKERS: String(WORKERS),
  }
  const version = { name: 'towpath', checkout: ROOT, dataDir: `${TOWPATH_DIR}-forms` }
  const server = await startForms(version, { kinds: ['plain'], workspaces: 0, databaseUrl, env, core: null })
  const pool = new pg.Pool({ connectionString: databaseUrl, max: SENDERS })
  try {
    for (let n = 0; n < WORKERS; n++) await server.send('plain', options.seconds)
    const before = await readCounts(pool)
    const { perSecond } = await server.send('plain', options.seconds)
    const after = await readCounts(pool)
    const rowsToCommit = Math.max(
      1,
      Math.round((after.rows - before.rows) / (after.commits - before.commits)),
    )
    const [posts = [], inserts = []] = await runRounds(options.rounds, [
      () => server.send('plain', options.seconds),
      () => insertRows(pool, server.workspaceId, rowsToCommit),
    ])
    const share = medianRatio(posts, inserts, 'perSecond')
    return [
      [`rows to a commit at ${formatCount(perSecond)} a second`, String(rowsToCommit), '', ''],
      [
        'submissions a second',
        ...[posts, inserts].map((of) => formatCount(medianOf(of, 'perSecond'))),
        `${share.toFixed(2)}, ${atLeast(SHARE_OF_LOOP, share)}`,
      ],
    ]
  } finally {
    await pool.end()
    await server.end()
  }
}

async function readCounts(pool: pg.Pool) {
  const { rows } = await pool.query(`select (select count(*) from submissions)::int as rows,
    (select xact_commit from pg_stat_database where datname = current_database())::int as commits`)
  return rows[0] as { rows: number; commits: number }
}

/** As many inserts at a time as the load generator has connections. Rows are copies of a submission's. */
async function insertRows(pool: pg.Pool, workspaceId: number, rowsToCommit: number) {
  const { rows } = await pool.query('select * from submissions where workspace_id = $1 limit 1', [
    workspaceId,
  ])
  const { id: _, ...row } = rows[0]
  const names = Object.keys(row).filter((name) => row[name] !== null)
  const text = `insert into submissions (${names.join(', ')}) values ${Array.from(
    { length: rowsToCommit },
    (_, n) => `(${names.map((_, i) => `$${n * names.length + i + 1}`).join(', ')})`,
  ).join(', ')}`
  let inserted = 0
  const end = performance.now() + options.seconds * 1000
  const insert = async () => {
    while (performance.now() < end) {
      const values = Array.from({ length: rowsToCommit }, () => {
        const own = { ...row, fingerprint: crypto.randomUUID(), created_at: Date.now() }
        return names.map((name) => own[name])
      })
      await pool.query({ name: `insert ${rowsToCommit}`, text, values: values.flat() })
      inserted += rowsToCommit
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, insert))
  return { perSecond: inserted / options.seconds }
}

const [postgres, clickHouse] = await Promise.all([startPostgres({ durable: true }), startClickHouse()])
try {
  const rows = await measureRedirects(postgres.url, clickHouse.url)
  print(toTable(['what', 'one process', `${WORKERS} processes`, 'ratio', 'at least'], rows))
  const forms = await measureSubmissions(postgres.url, clickHouse.url)
  print(toTable(['what', `${WORKERS} processes`, 'inserts only', 'ratio'], forms))
} finally {
  await Promise.all([postgres.end(), clickHouse.end()])
}
process.exit(0)
