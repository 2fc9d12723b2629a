// Work that one node does for all: under a lease, which another node takes over when its holder dies.

import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { until } from '../../../tests/support/until.ts'
import { createNodesFixture } from './nodes.fixture.ts'

const { openNode, openPlace, newDirectory, end } = createNodesFixture()
afterEach(end)

const HOUR_MS = 60 * 60_000
const nothing = async () => {}

describe('work under a lease', () => {
  test('runs on one of several nodes that try at once, and on none until the lease ends', async () => {
    const { url, change } = await openPlace()
    const nodes = await Promise.all([1, 2, 3].map(() => openNode(url)))
    let runs = 0
    const tryAll = () =>
      Promise.all(
        nodes.map((node) =>
          node.runAlone('prune', HOUR_MS, async () => {
            runs++
          }),
        ),
      )
    expect((await tryAll()).filter(Boolean)).toHaveLength(1)
    expect(runs).toBe(1)
    const holder = (await tryAll()).indexOf(true)
    // The holder may do its work again: its own period has passed.
    expect([runs, holder >= 0]).toEqual([2, true])
    await change(sql`update leases set until = until - ${HOUR_MS + 1000}::bigint`)
    expect((await tryAll()).filter(Boolean)).toHaveLength(1)
  })

  test('does not wait for a lease from before the database’s clock was set back', async () => {
    const { url, change } = await openPlace()
    const [holder, other] = [await openNode(url), await openNode(url)]
    expect(await holder.runAlone('prune', HOUR_MS, nothing)).toBe(true)
    await change(sql`update leases set until = until + ${HOUR_MS / 2}::bigint`)
    expect(await other.runAlone('prune', HOUR_MS, nothing)).toBe(false)
    await change(sql`update leases set until = until + ${HOUR_MS}::bigint`)
    expect(await other.runAlone('prune', HOUR_MS, nothing)).toBe(true)
    expect(await holder.runAlone('prune', HOUR_MS, nothing)).toBe(false)
  })

  test('has one holder at a time, whatever the order of tries, ends and deaths', async () => {
    const { url, change } = await openPlace()
    const nodes = await Promise.all([0, 1, 2].map(() => openNode(url)))
    const step = fc.oneof(fc.constantFrom(0, 1, 2), fc.constant('expiry' as const))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await change(sql`delete from leases`)
        let holder: number | undefined
        for (const next of steps) {
          if (next === 'expiry') {
            await change(sql`update leases set until = 0`)
            holder = undefined
          } else {
            const ran = await nodes[next]?.runAlone('prune', HOUR_MS, nothing)
            expect(ran).toBe(holder === undefined || holder === next)
            if (ran) holder = next
          }
        }
      }),
      { numRuns: 15 },
    )
  })

  test('has a lease of its own for each name, and runs once at a time in a process', async () => {
    const { url } = await openPlace()
    const node = await openNode(url)
    const other = await openNode(url)
    const { promise, resolve } = Promise.withResolvers<void>()
    const long = node.runAlone('one', HOUR_MS, () => promise)
    expect(await other.runAlone('two', HOUR_MS, nothing)).toBe(true)
    expect(await node.runAlone('one', HOUR_MS, nothing)).toBe(false)
    resolve()
    expect(await long).toBe(true)
    expect(await node.runAlone('one', HOUR_MS, nothing)).toBe(true)
  })

  test('keeps its lease for as long as it runs', async () => {
    const { url, db } = await openPlace()
    const [holder, other] = [await openNode(url), await openNode(url)]
    const { promise, resolve } = Promise.withResolvers<void>()
    const long = holder.runAlone('prune', 3_000, () => promise)
    const readEnd = async () =>
      (await db.read.selectFrom('leases').selectAll().executeTakeFirst())?.until ?? 0
    const first = await until('the lease', readEnd)
    await until('a renewal', async () => (await readEnd()) > first)
    expect(await other.runAlone('prune', 3_000, nothing)).toBe(false)
    resolve()
    expect(await long).toBe(true)
  })

  test('that fails tells so, and keeps the lease until it ends', async () => {
    const { url } = await openPlace()
    const [node, other] = [await openNode(url), await openNode(url)]
    const failing = node.runAlone('prune', HOUR_MS, () => Promise.reject(new Error('no room')))
    expect(await failing.catch((error: Error) => error.message)).toBe('no room')
    expect(await other.runAlone('prune', HOUR_MS, nothing)).toBe(false)
    expect(await node.runAlone('prune', HOUR_MS, nothing)).toBe(true)
  })

  test('goes to another node as soon as its holder has left', async () => {
    const { url } = await openPlace()
    const [holder, other] = [await openNode(url), await openNode(url)]
    expect(await holder.runAlone('prune', HOUR_MS, nothing)).toBe(true)
    await holder.close()
    expect(await other.runAlone('prune', HOUR_MS, nothing)).toBe(true)
  })

  test('goes to another node when its holder is killed in the middle', async () => {
    const { url, db } = await openPlace()
    const script = `
      import { openDatabase } from ${JSON.stringify(join(import.meta.dir, '../../storage/database/open-database.ts'))}
      import { createLeases } from ${JSON.stringify(join(import.meta.dir, 'leases.ts'))}
      const db = await openDatabase(${JSON.stringify({ dataDir: newDirectory(), databaseUrl: url })})
      await createLeases({ db, node: 'killed' }).runAlone('prune', 2_000, () => new Promise(() => {}))`
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'inherit' })
    const node = await openNode(url)
    await until('the other process to have the lease', () =>
      db.read.selectFrom('leases').selectAll().where('node', '=', 'killed').executeTakeFirst(),
    )
    expect(await node.runAlone('prune', 2_000, nothing)).toBe(false)
    child.kill('SIGKILL')
    await child.exited
    await until('the work to run here', () => node.runAlone('prune', 2_000, nothing))
  })
})
