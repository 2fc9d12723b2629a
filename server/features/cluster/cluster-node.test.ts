// Nodes on one PostgreSQL, and their view of each other.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { postgresUrl } from '../../../tests/support/postgres/postgres-server.ts'
import { until } from '../../../tests/support/until.ts'
import { log } from '../../lib/log.ts'
import { openDatabase } from '../../storage/database/open-database.ts'
import { openPostgresMigrator } from '../../storage/database/postgres.ts'
import { openClusterNode } from './cluster-node.ts'
import { createNodesFixture, SECRET } from './nodes.fixture.ts'

const { openNode, openPlace, end } = createNodesFixture()
afterEach(end)

describe('a node', () => {
  test('sees the others, and how far their hits are shipped', async () => {
    const { url } = await openPlace()
    const [first, second, third] = [await openNode(url), await openNode(url), await openNode(url)]
    await until('each to see two others', () =>
      [first, second, third].every((node) => node.countOthers() === 2),
    )
    const stop = Date.now()
    second.state.shippedUntil = stop
    await until('the mark of the others to pass', () => second.getOthersShippedUntil() > stop)
    expect(first.getOthersShippedUntil()).toBeLessThanOrEqual(stop)
    second.state.shippedUntil = Number.POSITIVE_INFINITY
    await until('the mark of the second to go on', () => first.getOthersShippedUntil() > stop)
  })

  test('takes nothing of the others as shipped before it has seen them', async () => {
    const { url } = await openPlace()
    const node = await openNode(url)
    expect(node.getOthersShippedUntil()).toBe(0)
    const before = Date.now()
    await until('a look at the others', () => node.getOthersShippedUntil() >= before)
    // Another node may have joined since the last look, and recorded a hit.
    expect(node.getOthersShippedUntil()).toBeLessThanOrEqual(Date.now())
  })

  test('does not hold back the others when it comes, unless its directory has hits', async () => {
    const { url, findRow } = await openPlace()
    const before = Date.now()
    const empty = await openNode(url, { getShippedUntil: () => 0 })
    const full = await openNode(url, { getShippedUntil: () => 0, isEmpty: false })
    expect((await findRow(empty.id))?.shipped_until).toBeGreaterThanOrEqual(before)
    expect((await findRow(full.id))?.shipped_until).toBe(0)
  })

  test('that left with everything shipped is waited for no more, and comes back', async () => {
    const { url, findRow } = await openPlace()
    const [first, second] = [await openNode(url), await openNode(url)]
    await until('the second to be seen', () => first.countOthers() === 1)
    await second.close()
    await until('the second to have left', () => first.countOthers() === 0)
    expect((await findRow(second.id))?.left_at).toBeNumber()
    const back = Date.now()
    const again = await openNode(url, { node: second.id, isEmpty: false, getShippedUntil: () => 0 })
    await until('it to be seen again', () => first.countOthers() === 1)
    expect(await findRow(again.id)).toMatchObject({ left_at: null })
    expect((await findRow(again.id))?.shipped_until).toBeGreaterThanOrEqual(back)
  })

  test('that ends with hits in its directory holds the others back for a minute', async () => {
    const { url, findRow, age } = await openPlace()
    const [first, second] = [await openNode(url), await openNode(url)]
    const stop = Date.now()
    second.state.shippedUntil = stop
    await until('its mark to stop', async () => ((await findRow(second.id))?.shipped_until ?? 0) <= stop)
    await second.close()
    expect(await findRow(second.id)).toMatchObject({ left_at: null })
    await age(second.id, 55_000)
    const seen = Date.now()
    await until('a later look', async () => ((await findRow(first.id))?.seen_at ?? 0) > seen)
    expect(first.getOthersShippedUntil()).toBeLessThanOrEqual(stop)
    await age(second.id, 5_000)
    await until('the first to go on', () => first.getOthersShippedUntil() > stop)
    expect(first.countOthers()).toBe(0)
  })

  test('goes on with its old mark after a crash, and not with that of a new directory', async () => {
    const { url, kill, findRow, age } = await openPlace()
    const node = await openNode(url)
    const stop = Date.now()
    await kill(node.id)
    node.state.replaced.length = 0
    await age(node.id, 10_000)
    const shipped = (await findRow(node.id))?.shipped_until ?? 0
    expect(shipped).toBeLessThanOrEqual(Date.now())
    await openNode(url, { node: node.id, isEmpty: false, getShippedUntil: () => 0 })
    expect((await findRow(node.id))?.shipped_until).toBe(shipped)
    expect(shipped).toBeLessThan(stop + 1_000)
  })

  test('survives a database that is away, and keeps what it knew', async () => {
    const { url } = await openPlace()
    const [first, second] = [await openNode(url), await openNode(url)]
    await until('the second to be seen', () => first.countOthers() === 1)
    const name = new URL(url).pathname.slice(1)
    const other = openPostgresMigrator(await postgresUrl())
    const warned = spyOn(log, 'warn').mockImplementation(() => {})
    const countWarnings = () => warned.mock.calls.filter(([event]) => event === 'heartbeat_waits').length
    try {
      await sql.raw(`alter database ${name} allow_connections false`).execute(other)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(other)
      await until('both to notice', () => countWarnings() === 2)
      const known = first.getOthersShippedUntil()
      expect([first.countOthers(), known > 0]).toEqual([1, true])
      await sql.raw(`alter database ${name} allow_connections true`).execute(other)
      const back = Date.now()
      await until('both to go on', () => [first, second].every((node) => node.getOthersShippedUntil() > back))
      expect(countWarnings()).toBe(2)
    } finally {
      warned.mockRestore()
      await other.destroy()
    }
  })

  test('warns when its clock is not that of the database', async () => {
    const { url } = await openPlace()
    const warned = spyOn(log, 'warn').mockImplementation(() => {})
    try {
      await openNode(url, { now: () => Date.now() + 5_000 })
      await until('a warning', () => warned.mock.calls.length > 0)
      expect(warned.mock.calls[0]?.[0]).toBe('clock_differs_from_the_database')
      expect(warned.mock.calls[0]?.[1]?.differenceMs).toBeWithin(4_000, 6_000)
    } finally {
      warned.mockRestore()
    }
  })

  test('says so when another node comes back to a database whose hits are in DuckDB', async () => {
    const { url, change } = await openPlace()
    const failed = spyOn(log, 'error').mockImplementation(() => {})
    try {
      const node = await openNode(url, { hitStore: 'duckdb' })
      expect(node.getOthersShippedUntil()).toBe(Number.POSITIVE_INFINITY)
      await change(sql`insert into nodes (node, process, version, hit_store, settings, started_at, seen_at,
        shipped_until) select 'back', 'x', version, hit_store, settings, started_at, seen_at + 1000, 0 from nodes`)
      await until('an error in the log', () => failed.mock.calls.length > 0)
      expect(failed.mock.calls[0]).toEqual(['another_server_without_clickhouse', { others: 1 }])
    } finally {
      failed.mockRestore()
    }
  })
})

test('on SQLite there are no others, and nothing is written', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-node-'))
  const db = await openDatabase({ dataDir })
  const node = await openClusterNode({
    db,
    node: 'only',
    dir: dataDir,
    isEmpty: false,
    version: '1.0.0',
    hitStore: 'clickhouse',
    settings: {},
    secret: SECRET,
    now: Date.now,
    getShippedUntil: () => 0,
    onReplaced: () => {},
  })
  expect([node.countOthers(), node.getOthersShippedUntil()]).toEqual([0, Number.POSITIVE_INFINITY])
  expect(node.instance).toMatch(/^[\w-]{22}$/)
  expect(await node.runAlone('job', 1_000, async () => {})).toBe(true)
  await node.close()
  for (const table of ['nodes', 'leases'] as const)
    expect(await db.read.selectFrom(table).selectAll().execute()).toEqual([])
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
})
