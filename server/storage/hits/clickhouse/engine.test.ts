import { afterEach, beforeAll } from 'bun:test'
import { testHitEngine } from '../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { openClickHouse } from './engine.ts'

let server: ClickHouseServer
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
afterEach(() => server.dropDatabases())

testHitEngine('ClickHouse', {
  open: async (directory) => openClickHouse({ urls: [await server.takeDatabase()], scratchDir: directory }),
})
