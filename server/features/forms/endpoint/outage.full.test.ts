// Submissions while PostgreSQL is down: no false success, and normal service as soon as it is back.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BEHIND_PROXY, createTestForm } from '../../../../tests/support/form-requests.ts'
import { type PostgresServer, startPostgres } from '../../../../tests/support/postgres/postgres-server.ts'
import { until } from '../../../../tests/support/until.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'

let postgres: PostgresServer
let server: TestServer

beforeAll(async () => {
  postgres = await startPostgres()
  const environment = { ...BEHIND_PROXY.environment, DATABASE_URL: postgres.url }
  server = await startServer('sqlite', { environment })
}, 120_000)

afterAll(async () => {
  await server?.close()
  await postgres?.end()
})

test('senders get 503 during the outage, and every acknowledged submission is stored', async () => {
  const form = await createTestForm(server)
  expect((await form.fetch('a=1')).status).toBe(200)
  await postgres.stop('immediate')
  const [script, native] = await Promise.all([
    form.fetch('a=2'),
    form.navigate('a=3', { Referer: 'https://site.example/' }),
  ])
  expect([script.status, script.text]).toEqual([503, '{"error":"Temporarily unavailable"}'])
  expect([native.status, native.headers.get('location')]).toEqual([503, null])
  expect(native.text).toContain('<h1>Please try again in a moment</h1>')
  for (const { headers } of [script, native]) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  }
  await postgres.start()
  await until('the same process serves again', async () => {
    return (await form.fetch('a=4')).status === 200
  })
  expect(await form.fields()).toEqual([[['a', '1']], [['a', '4']]])
}, 120_000)

test('a restart of PostgreSQL under load gives only successes and 503, and loses no success', async () => {
  const form = await createTestForm(server)
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let running = true
  let number = 0
  async function sender() {
    while (running) {
      const name = String(number++)
      const { status } = await form.fetch(`n=${name}`)
      statuses.add(status)
      if (status === 200) acknowledged.push(name)
    }
  }
  const senders = Array.from({ length: 16 }, sender)
  await until('some submissions', () => acknowledged.length > 100)
  await postgres.restart('immediate')
  const before = acknowledged.length
  await until('more submissions after it', () => acknowledged.length > before + 100)
  running = false
  await Promise.all(senders)
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  const found = new Set((await form.fields()).map((fields) => fields[0]?.[1]))
  expect(acknowledged.filter((name) => !found.has(name))).toEqual([])
}, 120_000)
