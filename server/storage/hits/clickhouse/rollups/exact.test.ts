import { beforeAll } from 'bun:test'
import { testRollUps } from '../../../../../tests/contracts/hit-rollups.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../../tests/support/clickhouse/clickhouse-server.ts'
import { openClickHouse } from '../engine.ts'

let server: ClickHouseServer
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)

testRollUps('ClickHouse', {
  open: async (directory) =>
    openClickHouse({ urls: [await server.takeDatabase()], scratchDir: directory, rollUpSettleMs: 0 }),
  worlds: { full: 1, soak: 24 },
  questions: { quick: 20, full: 200, soak: 850 },
  deletesAtOnce: false,
  days: { quick: 32, full: 36, soak: 75 },
})
