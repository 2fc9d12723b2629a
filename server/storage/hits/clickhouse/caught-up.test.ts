// A replica that lacks hits of other replicas loads no batch that may be among them. The library that the tests run has no
// replicas, so the answers about them are made here.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit } from '../../../../tests/contracts/hit-engine.ts'
import { CLICKHOUSE_START_MS, getClickHouse } from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { migrateTables } from './layout.ts'
import { createHitLoader } from './load.ts'

let directory: string
let client: ClickHouseClient
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  client = createClickHouseClient([await (await getClickHouse()).takeDatabase()])
  await migrateTables(client)
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  await client.close()
  rmSync(directory, { recursive: true, force: true })
})

test.each([
  ['one server', ['Atomic', 'MergeTree'], true],
  ['a replica without the last hits', ['Replicated', 'ReplicatedMergeTree'], false],
  ['a cloud whose servers share their tables', ['Shared', 'SharedMergeTree'], true],
])('%s', async (name, engines, loads) => {
  const select: ClickHouseClient['select'] = async (sql, call) => {
    if (sql.includes('FROM system.databases')) return engines.map((engine) => [engine])
    return sql.includes('FROM system.replicas') ? [['hits']] : client.select(sql, call)
  }
  const path = join(directory, 'batch.ndjson')
  writeFileSync(path, `${JSON.stringify(createHit({ workspaceId: 1 }))}\n`)
  const loader = createHitLoader({ ...client, select })
  const loading = loader.load({ node: name, number: 1, path }, 0)
  if (loads) await loading
  else await expect(loading).rejects.toThrow('has not caught up')
  expect(await loader.mark(name)).toBe(loads ? 1 : 0)
})
