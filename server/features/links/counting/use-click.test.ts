import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { countLockWaits } from '../../../../tests/support/postgres/count-lock-waits.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { openDatabase } from '../../../storage/database/open-database.ts'
import { createClickLimiter } from './use-click.ts'

onBothEngines.quick('the click limits of processes that share a database', (server) => {
  /** Two processes: with SQLite two sets of visitors of one process, because its file has one. */
  async function withTwo<T>(
    pool: number,
    use: (limiters: ReturnType<typeof createClickLimiter>[]) => Promise<T>,
  ): Promise<T> {
    const { app, dataDir, databaseUrl } = server()
    if (app.db.engine === 'sqlite') return use([createClickLimiter(app.db), createClickLimiter(app.db)])
    const second = await openDatabase({ dataDir, databaseUrl, databasePool: pool })
    try {
      return await use([createClickLimiter(app.db), createClickLimiter(second)])
    } finally {
      await second.close()
    }
  }

  test('let exactly as many clicks through as are left, however they come', async () => {
    const ws = await server().createWorkspace('enterprise')
    const waves = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 })
    await withTwo(3, (limiters) =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 80 }), waves, async (clickLimit, visitors) => {
          const { id } = await ws.createLink({ clickLimit })
          const link = { id, workspaceId: ws.id }
          let visited = 0
          for (const wave of visitors) {
            const before = Math.max(0, clickLimit - visited)
            const went = await Promise.all(
              Array.from({ length: wave }, (_, i) => limiters[i % 2]?.use(link) ?? Promise.reject()),
            )
            expect(went.filter(Boolean)).toHaveLength(Math.min(wave, before))
            visited += wave
            expect(await limiters[0]?.hasLeft(link)).toBe(visited < clickLimit)
          }
          const row = await server().row('links', { id })
          expect(row.clicks_used).toBe(Math.min(clickLimit, visited))
        }),
        { numRuns: atScale({ quick: 3, full: 12, soak: 12 }) },
      ),
    )
  }, 60_000)

  test('give no click of a link that is gone, and all of one whose limit is gone', async () => {
    const ws = await server().createWorkspace()
    const free = await ws.createLink({})
    await withTwo(3, async ([limiter]) => {
      const use = (id: number) => limiter?.use({ id, workspaceId: ws.id })
      expect(await Promise.all([use(free.id), use(free.id), use(999_999_999)])).toEqual([true, true, false])
      expect(await limiter?.use({ id: free.id, workspaceId: ws.id + 1 })).toBe(false)
    })
  })

  test('keep connections free for everybody else while all visit one link', async () => {
    if (server().app.db.engine === 'sqlite') return
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink({ clickLimit: 50 })
    const link = { id, workspaceId: ws.id }
    const { dataDir, databaseUrl } = server()
    const second = await openDatabase({ dataDir, databaseUrl, databasePool: 3 })
    try {
      const limiter = createClickLimiter(second)
      const holding = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      const holder = server().app.db.write(async (connection) => {
        await connection.selectFrom('links').select('id').where('id', '=', id).forUpdate().execute()
        held.resolve()
        await holding.promise
      })
      await held.promise
      const went = Promise.all(Array.from({ length: 100 }, () => limiter.use(link)))
      await until('the first visitor to wait for the row', async () => (await countLockWaits(second)) === 1)
      // The others wait in this process: two connections answer.
      const others = await Promise.all(
        Array.from({ length: 2 }, () =>
          sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(second.read),
        ),
      )
      expect(others).toHaveLength(2)
      holding.resolve()
      await holder
      expect((await went).filter(Boolean)).toHaveLength(50)
    } finally {
      await second.close()
    }
  })
})
