// Measures how plain submissions scale: bun bench/forms-scale.ts [growth|postgres] [--rounds=5] [--seconds=3]
// [--stored=1000000]. On SQLite, with a million stored ones beside none; and three processes on PostgreSQL beside a loop
// that only inserts such rows, 64 in a transaction.

import { openDatabase } from '../server/storage/database/open-database.ts'
import { startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import { SENDERS, startForms } from './forms-servers.ts'
import {
  addRows,
  atLeast,
  atMost,
  finish,
  formatCount,
  LOAD_COLUMNS,
  type LoadResult,
  listVersions,
  medianRatio,
  readOptions,
  readTreeProcessorMs,
  runRounds,
  toLoadCells,
  toTable,
  type Version,
} from './harness.ts'

const { words, ...options } = readOptions({ rounds: 5, seconds: 3, stored: 1_000_000 })
const isWanted = (part: string) => words.length === 0 || words.includes(part)
const [version] = listVersions([]) as [Version]
const GROWTH_MAX = 1.2
const SHARE_OF_LOOP = 0.3
const WORKERS = 3
const GROUP = 64
const MONTH_MS = 30 * 24 * 60 * 60 * 1000

/** Rows like the newest submission, each of another sender and moment of the month before. */
async function readLike(where: { dataDir: string; databaseUrl?: string }) {
  const db = await openDatabase(where)
  const { id, ...newest } = await db.read
    .selectFrom('submissions')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const from = Date.now() - MONTH_MS
  const toRow = (n: number) => ({
    ...newest,
    attribution_due: 0,
    duplicate_of: null,
    email: `earlier.${n}@example.com`,
    fingerprint: (from + n).toString(36).padStart(8, '0') + crypto.randomUUID() + crypto.randomUUID(),
    created_at: from + n,
  })
  return { db, toRow }
}

async function measureGrowth(): Promise<string> {
  const servers = [
    await startForms({ ...version, dataDir: `${version.dataDir}-0` }, { kinds: ['plain'], workspaces: 0 }),
    await startForms(version, { kinds: ['plain'], workspaces: 0 }),
  ] as const
  for (const server of servers) await server.send('plain', 2)
  const { db, toRow } = await readLike({ dataDir: version.dataDir })
  await addRows(db, 'submissions', options.stored, toRow)
  await db.close()
  const [none = [], many = []] = await runRounds(
    options.rounds,
    servers.map((server) => () => server.send('plain', options.seconds)),
  )
  const ratio = medianRatio(many, none, 'processorUs')
  return toTable(
    ['stored before', ...LOAD_COLUMNS, 'µs / with none'],
    [
      ['0', ...toLoadCells(none), ''],
      [
        formatCount(options.stored),
        ...toLoadCells(many),
        `${ratio.toFixed(2)}, ${atMost(GROWTH_MAX, ratio)}`,
      ],
    ],
  )
}

async function measurePostgres(): Promise<string> {
  const [postgres, clickHouse] = await Promise.all([startPostgres({ durable: true }), startClickHouse()])
  const environment = {
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: clickHouse.url,
    TOWPATH_SECRET: 'cluster-'.repeat(5),
    WORKERS: String(WORKERS),
  }
  const server = await startForms(version, { kinds: ['plain'], workspaces: 0, environment })
  await server.send('plain', 3)
  const { db, toRow } = await readLike({ dataDir: version.dataDir, databaseUrl: postgres.url })
  let inserted = 0
  const insert = async (): Promise<LoadResult> => {
    const [before, from] = [process.cpuUsage(), inserted]
    const start = performance.now()
    while (performance.now() < start + options.seconds * 1000) {
      const rows = Array.from({ length: GROUP }, () => toRow(inserted++))
      await db.write((connection) => connection.insertInto('submissions').values(rows).execute())
    }
    const { user, system } = process.cpuUsage(before)
    const [rows, seconds] = [inserted - from, (performance.now() - start) / 1000]
    return { perSecond: rows / seconds, p50Ms: 0, p99Ms: 0, failed: 0, processorUs: (user + system) / rows }
  }
  const send = async (connections: number) => {
    const before = readTreeProcessorMs(server.pid)
    const result = await server.send('plain', options.seconds, connections)
    const spent = readTreeProcessorMs(server.pid) - before
    return { ...result, processorUs: (spent * 1000) / (result.perSecond * options.seconds) }
  }
  const senders = [SENDERS, SENDERS * WORKERS]
  const [loop = [], ...sent] = await runRounds(options.rounds, [
    insert,
    ...senders.map((connections) => () => send(connections)),
  ])
  await db.close()
  await server.end()
  await Promise.all([postgres.end(), clickHouse.end()])
  return toTable(
    ['', ...LOAD_COLUMNS, 'of the loop'],
    [
      ...sent.map((results, n) => {
        const share = medianRatio(results, loop, 'perSecond')
        return [
          `${WORKERS} processes on PostgreSQL, ${senders[n]} connections`,
          ...toLoadCells(results),
          `${share.toFixed(2)}, ${atLeast(SHARE_OF_LOOP, share)}`,
        ]
      }),
      [`inserts only, ${GROUP} to a commit`, ...toLoadCells(loop), '1.00'],
    ],
  )
}

const tables: string[] = []
if (isWanted('growth')) tables.push(await measureGrowth())
if (isWanted('postgres')) tables.push(await measurePostgres())
finish(...tables)
