// HIT_RETENTION_DAYS for an operator: the setting at one start, and the clicks that are left after it.

import { afterEach, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { ENGINES, startServer } from '../../../tests/support/world.ts'

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 5, 15)
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

quick.each(ENGINES)(
  'clicks older than HIT_RETENTION_DAYS are deleted, and the counters of links stay (%s)',
  async (engine) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'towpath-retention-'))
    closing.push(async () => rmSync(dataDir, { recursive: true }))
    const database = engine === 'postgres' ? await migratedDatabase() : undefined
    if (database) closing.push(() => database.drop())
    const place = { DATA_DIR: dataDir, ...(database ? { DATABASE_URL: database.url } : {}) }
    let daysAgo = 0
    const start = async (retention: Record<string, string> = {}) => {
      const now = () => NOW - daysAgo * DAY
      const server = await startServer(engine, { environment: { ...place, ...retention }, now })
      let open = true
      const close = async () => {
        if (open) await server.close()
        open = false
      }
      closing.push(close)
      return { server, close }
    }

    const before = await start()
    const ws = await before.server.createWorkspace()
    const link = await ws.createLink()
    for (daysAgo of [400, 90, 40, 10, 0]) await before.server.click(link.slug)
    await before.server.waitUntilShipped()
    await before.close()

    const seen = async ({ server }: Awaited<ReturnType<typeof start>>) => {
      await until('the engine to be open', () => server.app.hitWorker.state().engineUp)
      await server.waitUntilShipped()
      const ask = (path: string) =>
        server.call(`/v1${path}`, { headers: { Authorization: `Bearer ${ws.key}` } })
      const total = await ask('/analytics/clicks?start=2000-01-01')
      const exported = await ask('/analytics/clicks/export?format=ndjson&start=2000-01-01')
      const counter = await ask(`/links/${link.id}`)
      return [total.json.data.clicks, exported.text.split('\n').length - 1, counter.json.data.clicks]
    }
    for (const [retention, left] of [
      [{ HIT_RETENTION_DAYS: '365' }, 4],
      [{ HIT_RETENTION_DAYS: '30' }, 2],
      // Without the setting, deleted clicks do not come back.
      [{}, 2],
    ] as const) {
      const started = await start(retention)
      expect([retention, await seen(started)]).toEqual([retention, [left, left, 5]])
      await started.close()
    }
    // The daily job of a running server calls the same function.
    const running = await start({ HIT_RETENTION_DAYS: '30' })
    await until('the engine to be open', () => running.server.app.hitWorker.state().engineUp)
    await running.server.app.hitWorker.pruneHits(NOW - 5 * DAY)
    expect(await seen(running)).toEqual([1, 1, 5])
  },
  120_000,
)
