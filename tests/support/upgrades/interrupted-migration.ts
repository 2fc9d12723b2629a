// Migrates a database and stops in the middle: with an error, or, as a process of its own, so that a test can kill it.
// bun tests/support/upgrades/interrupted-migration.ts <engine> <address> <step>

import { listMigrations, migrate } from '../../../server/storage/database/migrate.ts'
import { openMigrator, type RowsPlace } from './old-rows.ts'

/** Runs all missing migrations up to and with a step, and calls `interrupt` before the transaction ends. */
export async function migrateInterrupted(place: RowsPlace, step: string, interrupt: () => Promise<void>) {
  const migrations = listMigrations(place.engine)
  const { up } = migrations[step] as (typeof migrations)[string]
  const db = await openMigrator(place)
  try {
    await migrate(db, {
      ...migrations,
      [step]: {
        async up(connection) {
          await up(connection)
          await interrupt()
        },
      },
    })
  } finally {
    await db.destroy()
  }
}

if (import.meta.main) {
  const [engine, address = '', step = ''] = process.argv.slice(2)
  await migrateInterrupted({ engine: engine as RowsPlace['engine'], address }, step, () => {
    process.stdout.write('in the middle\n')
    // A promise alone does not keep a process alive.
    setInterval(() => {}, 60_000)
    return new Promise(() => {})
  })
}
