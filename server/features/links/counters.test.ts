// On PostgreSQL clicks are counted beside the links, and moved into them: no reader may see that.

import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { atScale } from '../../../tests/support/suite.ts'
import { onBothEngines } from '../../../tests/support/world.ts'
import { openDatabase } from '../../storage/database/open-database.ts'
import { moveNewClicks } from './counters.ts'
import { countClicks } from './counting/count-clicks.ts'
import type { LinkResource } from './schema.ts'

const ROUNDS = atScale({ quick: 8, full: 40, soak: 1500 })

onBothEngines.quick('counters that move', (server) => {
  const db = () => server().app.db
  const countOne = (node: string, number: number, ids: number[], at = number) =>
    countClicks(db(), { node, number, counts: ids.map((id): [number, number, number] => [id, 1, at]) })
  const countStored = async (ids: number[]) => {
    const rows = await db()
      .read.selectFrom('links')
      .select('clicks')
      .where('id', 'in', ids)
      .orderBy('id')
      .execute()
    return rows.map(({ clicks }) => clicks)
  }

  test('lose and double nothing while nodes count, two processes move, and a server of an older release counts', async () => {
    const ws = await server().createWorkspace('enterprise')
    const links: LinkResource[] = [await ws.createLink(), await ws.createLink(), await ws.createLink()]
    const ids = links.map(({ id }) => id)
    const { dataDir, databaseUrl } = server()
    const second = db().engine === 'postgres' ? await openDatabase({ dataDir, databaseUrl }) : undefined
    let counting = true
    const repeat = async (work: () => Promise<unknown>) => {
      // More reads would spend the limit of the workspace.
      for (let round = 0; counting && round < 100; round++) {
        await work()
        await new Promise(setImmediate)
      }
    }
    const readers = ['', '?sort=clicks'].map((query) => {
      const seen = new Map<number, number>()
      return repeat(async () => {
        const { status, json } = await ws.api(`/links${query}`)
        if (status !== 200) return
        for (const { id, clicks } of json.data) {
          expect(clicks).toBeGreaterThanOrEqual(seen.get(id) ?? 0)
          seen.set(id, clicks)
        }
      })
    })
    const movers = second ? [repeat(() => moveNewClicks(db())), repeat(() => moveNewClicks(second))] : []
    try {
      const nodes = Array.from({ length: 3 }, async (_, node) => {
        for (let number = 1; number <= ROUNDS; number++) await countOne(`${ws.id}-${node}`, number, ids)
      })
      const older = async () => {
        for (let i = 0; i < ROUNDS; i++)
          await db().write((connection) =>
            connection
              .updateTable('links')
              .set({ clicks: sql`clicks + 1` })
              .where('workspace_id', '=', ws.id)
              .where('id', '=', ids[0] ?? 0)
              .execute(),
          )
      }
      await Promise.all([...nodes, older()])
    } finally {
      counting = false
      await Promise.all([...readers, ...movers])
      await second?.close()
    }
    const shown = await Promise.all(ids.map(async (id) => (await ws.api(`/links/${id}`)).json.data))
    expect(shown.map(({ clicks }) => clicks)).toEqual([4 * ROUNDS, 3 * ROUNDS, 3 * ROUNDS])
    expect(shown.map(({ lastClickedAt }) => Date.parse(lastClickedAt))).toEqual(Array(3).fill(ROUNDS))
    await moveNewClicks(db())
    expect(await countStored(ids)).toEqual([4 * ROUNDS, 3 * ROUNDS, 3 * ROUNDS])
    expect(await db().read.selectFrom('link_counters').selectAll().execute()).toEqual([])
  }, 60_000)

  test('are the same wherever a link is shown, before and after they move', async () => {
    const ws = await server().createWorkspace('enterprise')
    const [hot, cold]: LinkResource[] = [await ws.createLink(), await ws.createLink()]
    if (!hot || !cold) throw new Error('two links')
    const node = `shown-${ws.id}`
    await countOne(node, 1, [cold.id], 1_000)
    await moveNewClicks(db())
    await countOne(node, 2, [hot.id, cold.id], 2_000)
    await countOne(node, 3, [hot.id], 500)
    const look = async () => {
      const one = (await ws.api(`/links/${hot.id}`)).json.data
      const listed = (await ws.api('/links')).json.data.find(({ id }: LinkResource) => id === hot.id)
      const patched = (await ws.patch(`/links/${hot.id}`, { title: 'x' })).json.data
      const deleted = (await ws.delete(`/links/${hot.id}`)).json.data
      const inTrash = (await ws.api('/links/trash')).json.data[0]
      const restored = (await ws.post(`/links/${hot.id}/restore`)).json.data
      return [one, listed, patched, deleted, inTrash, restored].map(
        (link) => link && [link.clicks, Date.parse(link.lastClickedAt)],
      )
    }
    expect(await look()).toEqual(Array(6).fill([2, 2_000]))
    await moveNewClicks(db())
    expect(await look()).toEqual(Array(6).fill([2, 2_000]))
    const sorted = async (sort: string) =>
      (await ws.api(`/links?sort=${sort}&order=asc`)).json.data.map(({ id }: LinkResource) => id)
    expect(await sorted('clicks')).toEqual([hot.id, cold.id])
    await countOne(node, 4, [cold.id], 3_000)
    await moveNewClicks(db())
    expect(await sorted('lastClickedAt')).toEqual([hot.id, cold.id])
  })

  test('go into a limit that is set while they move', async () => {
    const ws = await server().createWorkspace('enterprise')
    const node = `limit-${ws.id}`
    for (let round = 1; round <= atScale({ quick: 3, full: 10, soak: 10 }); round++) {
      const { id } = await ws.createLink()
      await countOne(node, 2 * round, [id])
      await moveNewClicks(db())
      await countOne(node, 2 * round + 1, [id])
      const patch = () => ws.patch(`/links/${id}`, { clickLimit: 5 })
      const [{ json }] = await Promise.all([patch(), moveNewClicks(db())])
      expect(json.data.clicks).toBe(2)
      const row = await server().row('links', { id })
      expect(row.clicks_used).toBe(2)
    }
  })
})
