import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { until } from '../../../../tests/support/until.ts'
import { ClickHouseError } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { listReplicatedStatements, migrateTables } from './layout.ts'

const TABLES = ['hit_layout', 'hit_marks', 'hits']

let server: ClickHouseServer
let client: ClickHouseClient
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  client = createClickHouseClient([await server.createDatabase()])
})
afterEach(() => server.dropDatabases())

const listTables = async () => {
  const rows = await client.select(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )
  return rows.flat()
}

describe('the tables', () => {
  test('are made once, also by several nodes at once', async () => {
    const instance = 'mine'
    await Promise.all([1, 2, 3].map(() => migrateTables(client, instance)))
    await migrateTables(client, instance)
    expect(await listTables()).toEqual(TABLES)
    const before = await client.select('SELECT count() FROM hit_layout')
    await migrateTables(client, instance)
    await migrateTables(client)
    expect(await client.select('SELECT count() FROM hit_layout')).toEqual(before)
  })

  test('are completed when the process that made them was killed', async () => {
    await migrateTables(client, 'mine')
    await client.execute('DROP TABLE hit_marks SYNC')
    await client.execute('TRUNCATE TABLE hit_layout')
    await migrateTables(client, 'mine')
    expect(await listTables()).toEqual(TABLES)
  })

  test('of roll-ups, which an earlier release has made, are dropped at each start', async () => {
    await migrateTables(client, 'mine')
    for (const name of ['roll_days', 'roll_marks', 'roll_of_somebody'])
      await client.execute(`CREATE TABLE ${name} (x Int8) ENGINE = MergeTree ORDER BY x`)
    await client.execute('INSERT INTO roll_days SELECT 1')
    await migrateTables(client, 'mine')
    expect(await listTables()).toEqual([...TABLES, 'roll_of_somebody'])
  })

  test('of roll-ups that the user may not drop are emptied', async () => {
    await migrateTables(client, 'mine')
    await client.execute('CREATE TABLE roll_days (x Int8) ENGINE = MergeTree ORDER BY x')
    await client.execute('INSERT INTO roll_days SELECT 1')
    const execute: ClickHouseClient['execute'] = async (sql, call) => {
      if (sql.startsWith('DROP TABLE')) throw new ClickHouseError('Not enough privileges', { code: 497 })
      return client.execute(sql, call)
    }
    await migrateTables({ ...client, execute }, 'mine')
    expect(await client.select('SELECT count() FROM roll_days')).toEqual([['0']])
  })

  test('sync what they store, recognize a batch, and have a partition for each UTC month', async () => {
    await migrateTables(client)
    const [[sql] = []] = await client.select('SHOW CREATE TABLE hits')
    for (const part of [
      'fsync_after_insert = true',
      'fsync_part_directory = true',
      'non_replicated_deduplication_window = 10000',
      "PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(recorded_at, 'UTC'))",
      'PRIMARY KEY (workspace_id, intDiv(recorded_at, 86400000), visitor)',
    ])
      expect(String(sql).replaceAll(/fsync_(\w+) = 1\b/g, 'fsync_$1 = true')).toContain(part)
  })
})

test('tables of the first layout keep their hits, and get the column of imports', async () => {
  await migrateTables(client, 'mine')
  await client.execute('ALTER TABLE hits DROP COLUMN import_id')
  await client.execute('TRUNCATE TABLE hit_layout')
  await client.execute("INSERT INTO hit_layout VALUES (1, 'mine', now64(3))")
  await client.execute("INSERT INTO hits (node, id, recorded_at, class) VALUES ('a', 1, 1, 'human')")
  await Promise.all([1, 2, 3].map(() => migrateTables(client, 'mine')))
  expect(await client.select('SELECT id, import_id FROM hits')).toEqual([['1', null]])
})

test('names of an earlier release that are in no list are closed in the background', async () => {
  await migrateTables(client, 'mine')
  await client.execute('TRUNCATE TABLE hit_layout')
  await client.execute("INSERT INTO hit_layout VALUES (3, 'mine', now64(3))")
  await client.execute(
    `INSERT INTO hits (node, id, recorded_at, class, browser, os, device) VALUES
      ('a', 1, 1, 'human', 'Jane Doe, 5 Main Street', 'Android', 'Mobile'), ('a', 2, 1, 'human', 'Chrome', 'MySystem', NULL)`,
  )
  await migrateTables(client, 'mine')
  const list = () => client.select('SELECT browser, os, device FROM hits ORDER BY id')
  await until('closed names', async () => !/Jane|MySystem/.test(JSON.stringify(await list())))
  expect(await list()).toEqual([
    ['Other', 'Android', 'Mobile'],
    ['Chrome', 'Other', null],
  ])
})

describe('a database', () => {
  test('of another installation is refused, and stays as it is', async () => {
    await migrateTables(client, 'theirs')
    const before = await client.select('SELECT * FROM hit_layout')
    await expect(migrateTables(client, 'mine')).rejects.toThrow('another installation')
    await migrateTables(client, 'theirs')
    expect(await client.select('SELECT * FROM hit_layout')).toEqual(before)
  })

  test('without an owner gets the first one that names itself', async () => {
    await migrateTables(client)
    await migrateTables(client, 'mine')
    await expect(migrateTables(client, 'yours')).rejects.toThrow('another installation')
  })

  test('that two installations take at once goes to one of them', async () => {
    const results = await Promise.allSettled(['mine', 'yours'].map((name) => migrateTables(client, name)))
    const owner = results.findIndex(({ status }) => status === 'fulfilled')
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await migrateTables(client, ['mine', 'yours'][owner])
  })

  test('with a newer layout is refused, and stays as it is', async () => {
    await migrateTables(client, 'mine')
    await client.execute("INSERT INTO hit_layout VALUES (99, 'mine', now64(3))")
    await expect(migrateTables(client, 'mine')).rejects.toThrow('layout 99 of a newer version')
    expect(await listTables()).toEqual(TABLES)
  })
})

test('the statements for a replicated database are ones that ClickHouse can read', async () => {
  // The library of the tests has no Keeper, so a replicated table cannot be made.
  const statements = listReplicatedStatements()
  expect(statements.join()).toContain('ReplicatedReplacingMergeTree')
  for (const statement of statements) await client.select(`EXPLAIN AST ${statement}`)
  await expect(client.select(`EXPLAIN AST ${statements[0]} nonsense`)).rejects.toThrow('Syntax error')
})
