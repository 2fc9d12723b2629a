// The ClickHouse server of the tests behaves as a real one where tests rely on it.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CLICKHOUSE_START_MS, type ClickHouseServer, startClickHouse } from './clickhouse-server.ts'

let server: ClickHouseServer
let database: string
beforeAll(async () => {
  server = await startClickHouse()
  database = new URL(await server.createDatabase()).pathname.slice(1)
  await server.query('CREATE TABLE numbers (n Int64) ENGINE = MergeTree ORDER BY n', database)
}, CLICKHOUSE_START_MS)
afterAll(() => server.end())

const count = () => server.query('SELECT count() FROM numbers', database)

test('refuses a wrong password, and answers with the codes of a real server', async () => {
  const { host } = new URL(server.url)
  const stranger = await fetch(`http://${host}/?query=SELECT+1`)
  expect([stranger.status, stranger.headers.get('X-ClickHouse-Exception-Code')]).toEqual([403, '516'])
  await expect(server.query('SELECT 1', 'nowhere')).rejects.toThrow('UNKNOWN_DATABASE')
})

test('loses an answer when told to, and keeps the data when it is killed', async () => {
  await server.cutAnswerAfter('INSERT INTO numbers')
  await expect(server.query('INSERT INTO numbers VALUES (1)', database)).rejects.toThrow()
  expect(await count()).toBe('1\n')
  await server.kill()
  expect(server.running()).toBe(false)
  await server.start()
  expect(await count()).toBe('1\n')
})
