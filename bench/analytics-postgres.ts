// Loads the same hits into PostgreSQL and asks the same questions, as a team without another engine would: one table, the
// two obvious indexes, and enough memory.

import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { HitDialect } from '../server/storage/hits/hit-dialect.ts'
import type { HitAnswer, HitQuery } from '../server/storage/hits/hit-engine.ts'
import { toHitSql } from '../server/storage/hits/hit-sql.ts'
import { toLastLabelsPattern } from '../server/storage/sources/origin-sql.ts'
import { getPostgresPrograms } from '../tests/support/postgres/postgres-programs.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import { generateHits } from './hits-generator.ts'

const TEXTS =
  'class country region city continent device browser os referrer referrer_url utm_source utm_medium '
    .concat('utm_campaign utm_term utm_content unknown_slug')
    .split(' ')
/** The columns in the order of a generated line. */
const COLUMNS = `id bigint, recorded_at bigint, workspace_id bigint, link_id bigint, outcome text, trigger text,
  class text, visitor bigint, ${TEXTS.slice(1).map((name) => `${name} text`)}`

const postgresDialect: HitDialect = {
  placeholder: (n, value) => {
    const type = typeof (Array.isArray(value) ? value[0] : value) === 'string' ? 'text' : 'bigint'
    return `$${n}::${type}${Array.isArray(value) ? '[]' : ''}`
  },
  countVisitors: 'count(DISTINCT visitor)',
  isInList: (column, list) => `${column} = ANY(${list})`,
  lower: (column) => `lower(${column})`,
  listTable: (list) => `(SELECT unnest(${list}) AS value)`,
  lastLabels: (host, count) => `substring(${host} from '${toLastLabelsPattern(count)}')`,
  pairs: (linkIds, slots) => `unnest(${linkIds}, ${slots}) AS pairs(link_id, slot)`,
}

export interface Postgres {
  bytes: number
  ask(query: HitQuery): Promise<HitAnswer[]>
  end(): Promise<void>
}

export async function loadPostgres(hits: number): Promise<Postgres> {
  const server = await startPostgres({
    settings: {
      shared_buffers: '2GB',
      // As much as DuckDB has for everything.
      work_mem: '256MB',
      maintenance_work_mem: '1GB',
      max_wal_size: '8GB',
      wal_level: 'minimal',
      max_wal_senders: '0',
    },
  })
  const client = new pg.Client({ connectionString: server.url })
  const end = async () => {
    await client.end()
    await server.end()
  }
  try {
    await client.connect()
    await client.query(`CREATE UNLOGGED TABLE hits (${COLUMNS})`)
    await copy(server.url, hits)
    await client.query('CREATE INDEX ON hits (workspace_id, recorded_at)')
    await client.query('CREATE INDEX ON hits (workspace_id, link_id, recorded_at)')
    await client.query('VACUUM ANALYZE hits')
    const size = await client.query<{ bytes: string }>("SELECT pg_total_relation_size('hits') AS bytes")
    return { bytes: Number(size.rows[0]?.bytes), ask: (query) => ask(client, query), end }
  } catch (error) {
    await end()
    throw error
  }
}

/** psql is beside the server's programs, which may be links. */
const findPsql = () =>
  Bun.which('psql') ?? join(dirname(realpathSync(join(getPostgresPrograms(), 'postgres'))), 'psql')

async function copy(url: string, hits: number) {
  const child = Bun.spawn(
    [
      findPsql(),
      url,
      '-q',
      '-v',
      'ON_ERROR_STOP=1',
      '-c',
      "\\copy hits FROM STDIN (FORMAT csv, NULL 'null')",
    ],
    { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' },
  )
  for (const { lines } of generateHits({ hits })) {
    // No value needs escaping, so a line without its names is CSV.
    child.stdin.write(lines.replace(/[{}]|"[a-zA-Z]+":/g, ''))
    await child.stdin.flush()
  }
  await child.stdin.end()
  if ((await child.exited) !== 0) throw new Error('PostgreSQL did not take the hits')
}

async function ask(client: pg.Client, query: HitQuery): Promise<HitAnswer[]> {
  const { text, params, read } = toHitSql(query, postgresDialect)
  const { rows } = await client.query<string[]>({ text, values: params, rowMode: 'array' })
  return read(rows)
}
