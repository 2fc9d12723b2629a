// An upgrade that fails at any step leaves the rows of the old version as they were, and the next start finishes it.

import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { join } from 'node:path'
import { listMigrations, migrate } from '../../server/storage/database/migrate.ts'
import { atScale, quick } from '../support/suite.ts'
import { migrateInterrupted } from '../support/upgrades/interrupted-migration.ts'
import {
  createOldRows,
  dumpRows,
  listNewMigrations,
  openMigrator,
  type RowsPlace,
} from '../support/upgrades/old-rows.ts'
import { ENGINES } from '../support/world.ts'

const PROGRAM = join(import.meta.dir, '../support/upgrades/interrupted-migration.ts')

for (const engine of ENGINES) {
  const steps = listNewMigrations(engine)
  const last = steps.at(-1) as string
  const some = [steps[0], steps[Math.floor(steps.length / 2)], last] as string[]
  const failed = atScale({ quick: some.slice(1), full: steps, soak: steps })
  // A process for each step takes a third of a second.
  const killed = atScale({ quick: [last], full: some, soak: steps })

  describe(`an upgrade from 0.1.0 on ${engine}`, () => {
    let old: Awaited<ReturnType<typeof createOldRows>>
    beforeAll(async () => {
      old = await createOldRows(engine)
    }, 120_000)
    afterAll(() => old?.close())

    async function expectUntouched(
      interrupt: (place: RowsPlace, step: string) => Promise<void>,
      step: string,
    ) {
      await old.use(async (place) => {
        const before = await dumpRows(place)
        expect(before).toContain('bob@example.com')
        await interrupt(place, step)
        expect(await dumpRows(place)).toBe(before)
        await finish(place)
        const after = await dumpRows(place)
        expect([after.includes(last), after.includes('bob@example.com')]).toEqual([true, true])
      })
    }

    quick(
      `that fails in any of ${failed.length} steps changes nothing, names the step, and succeeds later`,
      async () => {
        for (const step of failed) await expectUntouched(fail, step)
      },
    )

    quick(
      `that is killed in the middle of ${killed.join(', ')} changes nothing, and succeeds later`,
      async () => {
        for (const step of killed) await expectUntouched(kill, step)
      },
    )
  })
}

async function fail(place: RowsPlace, step: string): Promise<void> {
  const upgrade = migrateInterrupted(place, step, () => Promise.reject(new Error('no space left')))
  await expect(upgrade).rejects.toThrow(`The database could not be brought up to date (step ${step}).`)
}

async function kill({ engine, address }: RowsPlace, step: string): Promise<void> {
  const child = Bun.spawn([process.execPath, PROGRAM, engine, address, step], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('in the middle\n')
  child.kill('SIGKILL')
  await child.exited
}

async function finish(place: RowsPlace): Promise<void> {
  const db = await openMigrator(place)
  await migrate(db, listMigrations(place.engine))
  await db.destroy()
}
