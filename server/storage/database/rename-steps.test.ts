// A database of an unreleased version opens with its tables and rows unchanged, and gets the new names of its steps.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { createTestDatabase } from '../../../tests/support/postgres/postgres-server.ts'
import { describeSchema } from '../../../tests/support/upgrades/describe-schema.ts'
import { dumpRows, openMigrator, type RowsPlace } from '../../../tests/support/upgrades/old-rows.ts'
import { unpackReleaseData } from '../../../tests/support/upgrades/release-data.ts'
import type { Connection, DatabaseEngine } from './database.ts'
import { listMigrations, migrate, readMigrationState } from './migrate.ts'
import { toSqlitePath } from './open-reader.ts'
import { REPLACED_STEPS } from './rename-steps.ts'
import { isKnownMigration } from './sqlite-snapshot.ts'

/** The last step that has replaced others. Later steps are free to change the schema. */
const LAST = '0015-imports'

const listReplacing = (engine: DatabaseEngine) =>
  Object.fromEntries(Object.entries(listMigrations(engine)).filter(([name]) => name <= LAST))

const listNames = async (db: Connection) =>
  (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)).rows.map(
    ({ name }) => name,
  )

const findFloor = (db: Connection) => db.selectFrom('instance').select('floor').executeTakeFirst()

/** Gives the database back the names that an unreleased version left there. */
async function undoNames(db: Connection) {
  const steps = db as unknown as Kysely<{ kysely_migration: { name: string; timestamp: string } }>
  await steps.deleteFrom('kysely_migration').where('name', '>=', '0010').execute()
  // Later than the steps that stay.
  const row = { timestamp: '2100-01-01T00:00:00.000Z' }
  await steps
    .insertInto('kysely_migration')
    .values(REPLACED_STEPS.map((name) => ({ name, ...row })))
    .execute()
  await sql`update instance set floor = '0022-cluster'`.execute(db)
}

/** Rows of all tables but the names and the floor. */
const dumpData = async (place: RowsPlace) =>
  (await dumpRows(place)).replace(/\n\["kysely_migration",.*/, '').replace(/\n\["instance",.*/, '')

test('a backup of an unreleased version can be restored', () =>
  expect([...REPLACED_STEPS, LAST, '0044-later'].filter((name) => !isKnownMigration(name))).toEqual([
    '0044-later',
  ]))

describe.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'a database of an unreleased version on %s',
  (engine) => {
    let place: RowsPlace
    let db: Connection
    let dataDir: string
    beforeAll(async () => {
      dataDir = unpackReleaseData('0.2.0-unreleased')
      const address = engine === 'sqlite' ? toSqlitePath(dataDir) : (await createTestDatabase()).url
      place = { engine, address }
      db = await openMigrator(place)
      if (engine === 'sqlite') return
      await migrate(db, listReplacing(engine))
      await undoNames(db)
    }, 60_000)
    afterAll(async () => {
      await db?.destroy()
      rmSync(dataDir, { recursive: true, force: true })
    })

    // What PostgreSQL prints of its schema depends on its version, so no schema of the earlier version is kept.
    const onSqliteOnly = engine === 'sqlite' ? test : () => {}
    onSqliteOnly('has the schema of a new one', async () => {
      const fresh = await openMigrator({ engine, address: join(dataDir, 'fresh.db') })
      await migrate(fresh, listReplacing(engine))
      expect(await describeSchema(engine, fresh)).toEqual(await describeSchema(engine, db))
      await fresh.destroy()
    })

    test('is up to date for the doctor', async () => {
      expect(await readMigrationState(db, listReplacing(engine))).toEqual({
        missing: [],
        unknown: [],
        isUsable: true,
        applied: Object.keys(listReplacing(engine)).length,
      })
    })

    test('is refused without one of its steps, and stays as it is', async () => {
      const last = '0043-mail-shares'
      await sql`update kysely_migration set name = '0020-gone' where name = ${last}`.execute(db)
      const before = await dumpRows(place)
      await expect(migrate(db, listMigrations(engine))).rejects.toThrow(
        `This database was made by an unreleased version of Towpath and lacks its steps ${last}. Start the version`,
      )
      expect(await dumpRows(place)).toBe(before)
      await sql`update kysely_migration set name = ${last} where name = '0020-gone'`.execute(db)
    })

    test('keeps every row, and gets the names and the floor of this version', async () => {
      const before = await dumpData(place)
      if (engine === 'postgres') {
        const other = await openMigrator(place)
        await Promise.all([migrate(db, listReplacing(engine)), migrate(other, listReplacing(engine))])
        await other.destroy()
      } else {
        // SQLite's wait for a lock blocks the event loop, so a second process cannot be played here.
        await migrate(db, listReplacing(engine))
      }
      expect(await listNames(db)).toEqual(Object.keys(listReplacing(engine)))
      expect(await findFloor(db)).toEqual({ floor: '0014-cluster' })
      expect(await dumpData(place)).toBe(before)
      await migrate(db, listMigrations(engine))
    })
  },
)
