// The contract of the database on every engine. server/storage/database/database.test.ts runs it on both.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Kysely, type Migration, sql } from 'kysely'
import { Failure } from '../../server/lib/failure.ts'
import { isUniqueViolation } from '../../server/storage/database/errors.ts'
import { listMigrations, migrate } from '../../server/storage/database/migrate.ts'
import { toNestedDatabase } from '../../server/storage/database/nested-database.ts'
import {
  type Connection,
  type DatabaseEngine,
  type DatabaseHandle,
  openDatabase,
} from '../../server/storage/database/open-database.ts'
import { raiseFloor } from '../../server/storage/database/raise-floor.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'

/** The place of a database, as in the configuration. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl?: string
}

export interface DatabaseSubject {
  engine: DatabaseEngine
  /** An empty place. The subject removes it at the end. */
  emptyPlace(): Promise<DatabaseLocation>
  /** A connection for migrations. The caller destroys it. */
  migrator(place: DatabaseLocation): Promise<Connection>
}

/** Inserts a workspace: the smallest row with an id, a unique text and numbers. */
export const insertWorkspace = (connection: Connection, name: string) =>
  connection
    .insertInto('workspaces')
    .values({ public_id: name, name, plan: 'pro', created_at: 1, updated_at: 2 })
    .returningAll()
    .executeTakeFirstOrThrow()

/** The names among these that are stored, in order. */
export async function listWorkspaceNames(
  rows: Pick<DatabaseHandle, 'read'>,
  prefix: string,
): Promise<string[]> {
  const found = await rows.read
    .selectFrom('workspaces')
    .select('public_id')
    .where('public_id', 'like', `${prefix}%`)
    .orderBy('public_id')
    .execute()
  return found.map((row) => row.public_id)
}

const failing = (message: string) => (): never => {
  throw new Error(message)
}

export function testDatabase(subject: DatabaseSubject) {
  setDefaultTimeout(120_000)
  describe(`rows: ${subject.engine}`, () => {
    let place: DatabaseLocation
    let db: DatabaseHandle
    beforeAll(async () => {
      place = await subject.emptyPlace()
      db = await openDatabase(place)
    }, 60_000)
    afterAll(() => db?.close())

    testWrites(() => db)
    testSavepoints(() => db)
    testViolations(() => db)
    testValues(() => db)
    testOpening(subject)
  })
}

function testWrites(rows: () => DatabaseHandle) {
  describe('a write', () => {
    test('resolves with the value of its body, after everybody can read the rows', async () => {
      const { id } = await rows().write((connection) => insertWorkspace(connection, 'plain'))
      expect(await listWorkspaceNames(rows(), 'plain')).toEqual(['plain'])
      expect(id).toBeInteger()
    })

    test('is hidden from others before its commit', async () => {
      let seen: string[] | undefined
      await rows().write(async (connection) => {
        await insertWorkspace(connection, 'unseen')
        seen = await listWorkspaceNames(rows(), 'unseen')
      })
      expect(seen).toEqual([])
      expect(await listWorkspaceNames(rows(), 'unseen')).toEqual(['unseen'])
    })

    test('that throws is rolled back alone, and other writes of the same turn are stored', async () => {
      const outcomes = await Promise.allSettled([
        rows().write((connection) => insertWorkspace(connection, 'n1')),
        rows().write(async (connection) => {
          await insertWorkspace(connection, 'n2')
          throw new Failure('conflict', 'not this one')
        }),
        rows().write((connection) => insertWorkspace(connection, 'n3')),
        rows().write(async (connection) => {
          await insertWorkspace(connection, 'n4')
          await insertWorkspace(connection, 'n4')
        }),
        rows().write((connection) => insertWorkspace(connection, 'n5')),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ])
      const [, refused, , twice] = outcomes as PromiseRejectedResult[]
      expect(refused?.reason).toMatchObject({ code: 'conflict', message: 'not this one' })
      expect(isUniqueViolation(twice?.reason)).toBe(true)
      expect(await listWorkspaceNames(rows(), 'n')).toEqual(['n1', 'n3', 'n5'])
    })

    test('that goes on after a failed statement is stored or refused, and never lost in silence', async () => {
      const outcome = await Promise.allSettled([
        rows().write(async (connection) => {
          await insertWorkspace(connection, 'swallow-1')
          await insertWorkspace(connection, 'swallow-1').catch(() => undefined)
        }),
      ])
      const found = await listWorkspaceNames(rows(), 'swallow')
      expect(found).toEqual(outcome[0].status === 'fulfilled' ? ['swallow-1'] : [])
    })

    test('with a query that is not awaited does not store it in another write', async () => {
      let left: Promise<unknown> | undefined
      const outcomes = await Promise.allSettled([
        rows().write(async (connection) => {
          // As in Promise.all: the first failure ends the body, and the other queries are not awaited.
          left = Promise.resolve()
            .then(() => insertWorkspace(connection, 'left-behind'))
            .catch(() => 'refused')
          throw new Error('the verb ends here')
        }),
        rows().write((connection) => insertWorkspace(connection, 'left-neighbor')),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      await left
      await rows().write((connection) => insertWorkspace(connection, 'left-next'))
      expect(await listWorkspaceNames(rows(), 'left')).toEqual(['left-neighbor', 'left-next'])
    })

    test('runs its callbacks after the commit, and before it resolves', async () => {
      const order: string[] = []
      const done = rows().write(async (connection, onCommit) => {
        onCommit(() => order.push('called'))
        await insertWorkspace(connection, 'told')
        order.push('verb ended')
      })
      await done.then(() => order.push('resolved'))
      expect(order).toEqual(['verb ended', 'called', 'resolved'])
    })

    test('that throws runs no callbacks', async () => {
      const calls: string[] = []
      const outcomes = await Promise.allSettled([
        rows().write(async (connection, onCommit) => {
          onCommit(() => calls.push('failed'))
          await insertWorkspace(connection, 'silent-1')
          throw new Error('after registering')
        }),
        rows().write(async (connection, onCommit) => {
          onCommit(() => calls.push('stored'))
          await insertWorkspace(connection, 'silent-2')
        }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      expect(calls).toEqual(['stored'])
    })

    test('is stored when its callback throws, and so are later writes', async () => {
      await rows().write(async (connection, onCommit) => {
        onCommit(failing('a listener of ours'))
        await insertWorkspace(connection, 'listened-1')
      })
      await rows().write((connection) => insertWorkspace(connection, 'listened-2'))
      expect(await listWorkspaceNames(rows(), 'listened')).toEqual(['listened-1', 'listened-2'])
    })

    test('is stored and gets its own answer among many parallel writes, or is refused', async () => {
      const count = atScale({ quick: 400, full: 2_000, soak: 2_000 })
      const names = Array.from({ length: count }, (_, i) => `many-${String(i).padStart(4, '0')}`)
      const outcomes = await Promise.allSettled(
        names.map((name) => rows().write((connection) => insertWorkspace(connection, name))),
      )
      const stored = names.filter((_, i) => outcomes[i]?.status === 'fulfilled')
      expect(await listWorkspaceNames(rows(), 'many-')).toEqual(stored)
      const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(made.map((row) => row.public_id)).toEqual(stored)
      expect(new Set(made.map(({ id }) => id)).size).toBe(stored.length)
      // On a machine that is too slow for so many writes, some wait too long for a connection: a 503 each.
      for (const each of outcomes)
        if (each.status === 'rejected')
          expect(each.reason).toMatchObject({ code: 'unavailable', detail: { retryAfter: 5 } })
      expect(stored).not.toBeEmpty()
    })

    test('that starts in the moment when another one ends is not lost', async () => {
      const chains = Array.from({ length: 7 }, async (_, chain) => {
        for (let i = 0; i < 60; i++) {
          await rows().write((connection) => insertWorkspace(connection, `chain-${chain}-${i}`))
          for (let turns = 0; turns < i % 8; turns++) await undefined
        }
      })
      await Promise.all(chains)
      expect(await listWorkspaceNames(rows(), 'chain-')).toHaveLength(420)
    })

    test('proves that the database takes writes, and changes nothing', async () => {
      await rows().probe()
      expect(await rows().read.selectFrom('click_marks').selectAll().execute()).toEqual([])
    })
  })
}

function testSavepoints(rows: () => DatabaseHandle) {
  describe('a write within a write', () => {
    test('that fails is rolled back alone', async () => {
      const calls: string[] = []
      await rows().write(async (connection, onCommit) => {
        const inner = toNestedDatabase(rows(), connection, onCommit)
        await insertWorkspace(connection, 'in-outer')
        const failed = inner.write(async (connection, onCommit) => {
          onCommit(() => calls.push('failed'))
          await insertWorkspace(connection, 'in-failed')
          await insertWorkspace(connection, 'in-failed')
        })
        expect(isUniqueViolation(await failed.catch((error) => error))).toBe(true)
        await inner.write(async (connection, onCommit) => {
          onCommit(() => calls.push('stored'))
          await insertWorkspace(connection, 'in-stored')
        })
        expect(await listWorkspaceNames(inner, 'in-')).toEqual(['in-outer', 'in-stored'])
        expect(calls).toEqual([])
      })
      expect(calls).toEqual(['stored'])
      expect(await listWorkspaceNames(rows(), 'in-')).toEqual(['in-outer', 'in-stored'])
    })

    test('is rolled back when the outer write fails, and runs no callbacks', async () => {
      const calls: string[] = []
      const outer = rows().write(async (connection, onCommit) => {
        const inner = toNestedDatabase(rows(), connection, onCommit)
        await inner.write(async (connection, onCommit) => {
          onCommit(() => calls.push('inner'))
          await insertWorkspace(connection, 'out-inner')
        })
        throw new Error('the outer one')
      })
      expect(((await outer.catch((error) => error)) as Error).message).toBe('the outer one')
      expect(calls).toEqual([])
      expect(await listWorkspaceNames(rows(), 'out-')).toEqual([])
    })

    test('fails alone among parallel inner writes', async () => {
      await rows().write(async (connection, onCommit) => {
        const inner = toNestedDatabase(rows(), connection, onCommit)
        await Promise.allSettled([
          inner.write(async (connection) => {
            await insertWorkspace(connection, 'side-1')
            await Bun.sleep(1)
            throw new Error('this one')
          }),
          inner.write((connection) => insertWorkspace(connection, 'side-2')),
        ])
      })
      expect(await listWorkspaceNames(rows(), 'side-')).toEqual(['side-2'])
    })

    test('can contain another write', async () => {
      await rows().write(async (connection, onCommit) => {
        await toNestedDatabase(rows(), connection, onCommit).write(async (connection, onCommit) => {
          await insertWorkspace(connection, 'deep-1')
          const innermost = toNestedDatabase(rows(), connection, onCommit).write(async (connection) => {
            await insertWorkspace(connection, 'deep-2')
            throw new Error('innermost')
          })
          await innermost.catch(() => undefined)
          await insertWorkspace(connection, 'deep-3')
        })
      })
      expect(await listWorkspaceNames(rows(), 'deep-')).toEqual(['deep-1', 'deep-3'])
    })
  })
}

function testViolations(rows: () => DatabaseHandle) {
  test('a violation of a constraint is known by its index', async () => {
    const workspace = await rows().write((connection) => insertWorkspace(connection, 'violated'))
    const tag = { workspace_id: workspace.id, name: 'A', name_key: 'a', color: 'gray', created_at: 1 }
    const made = await rows().write((connection) =>
      connection.insertInto('tags').values(tag).returning('id').executeTakeFirstOrThrow(),
    )
    const errorOf = async (verb: (connection: Connection) => Promise<unknown>) =>
      rows()
        .write(verb)
        .then(
          () => undefined,
          (error: unknown) => error,
        )
    const twice = await errorOf((connection) => connection.insertInto('tags').values(tag).execute())
    const name = { index: 'tags_workspace_name', columns: ['workspace_id', 'name_key'] }
    const other = { index: 'links_domain_slug', columns: ['domain', 'slug_key'] }
    expect(isUniqueViolation(twice)).toBe(true)
    expect(isUniqueViolation(twice, name)).toBe(true)
    expect(isUniqueViolation(twice, other)).toBe(false)
    const key = { workspace_id: workspace.id, link_id: 1, tag_id: made.id }
    for (const [what, verb] of [
      ['a foreign key', (connection: Connection) => connection.insertInto('link_tags').values(key).execute()],
      [
        'a missing value',
        (connection: Connection) =>
          connection
            .insertInto('tags')
            .values({ ...tag, name: null as never })
            .execute(),
      ],
      [
        'a mistake of ours',
        (connection: Connection) => sql`select no_such_column from tags`.execute(connection),
      ],
    ] as const) {
      const error = await errorOf(verb)
      expect(error, what).toBeInstanceOf(Error)
      expect(error, what).not.toBeInstanceOf(Failure)
      expect(isUniqueViolation(error), what).toBe(false)
    }
  })
}

function testValues(rows: () => DatabaseHandle) {
  test('ids, counters, times, counts and sums are numbers, and absent values are null', async () => {
    const big = 2 ** 52 + 1
    const workspace = await rows().write((connection) => insertWorkspace(connection, 'numbers'))
    const link = await rows().write((connection) =>
      connection
        .insertInto('links')
        .values({
          workspace_id: workspace.id,
          domain: '',
          slug: 'Zahl',
          slug_key: 'zahl',
          destination_url: 'https://example.com/',
          clicks: big,
          archived: 0,
          forward_query: 1,
          track_conversions: 0,
          geo_targeting: '{}',
          device_targeting: '{}',
          redirect_status: 302,
          clicks_used: 0,
          leads: 0,
          search_text: 'zahl ä 🚀',
          created_at: 1_790_000_000_000,
          updated_at: 1,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    )
    expect(link.id).toBeInteger()
    expect(link).toMatchObject({
      workspace_id: workspace.id,
      clicks: big,
      forward_query: 1,
      created_at: 1_790_000_000_000,
      title: null,
      deleted_at: null,
      search_text: 'zahl ä 🚀',
    })
    const read = rows().read.selectFrom('links').where('id', '=', link.id)
    expect(await read.selectAll().executeTakeFirst()).toEqual(link)
    const { count, sum, max } = await read
      .select(({ fn }) => [
        fn.countAll().as('count'),
        fn.sum('clicks').as('sum'),
        fn.max('created_at').as('max'),
      ])
      .executeTakeFirstOrThrow()
    expect({ count, sum, max }).toEqual({ count: 1, sum: big, max: 1_790_000_000_000 } as never)
    const changed = await rows().write((connection) =>
      connection
        .updateTable('links')
        .set({ clicks: sql`clicks + 1` })
        .where('id', '=', link.id)
        .executeTakeFirst(),
    )
    expect(changed.numUpdatedRows).toBe(1n)
  })
}

const DATABASE_DIR = join(import.meta.dir, '../../server/storage/database')
const OPEN = join(DATABASE_DIR, 'open-database.ts')

function testOpening({ engine, emptyPlace, migrator }: DatabaseSubject) {
  async function withMigrator<T>(
    place: DatabaseLocation,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const connection = await migrator(place)
    try {
      return await work(connection)
    } finally {
      await connection.destroy()
    }
  }
  const tablesOf = (place: DatabaseLocation) =>
    withMigrator(place, async (connection) =>
      (await connection.introspection.getTables()).map((table) => table.name).sort(),
    )
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: Error) => error,
    )

  describe('opening', () => {
    test('twice changes nothing and keeps what is stored', async () => {
      const place = await emptyPlace()
      const first = await openDatabase(place)
      await first.write((connection) => insertWorkspace(connection, 'kept'))
      await first.close()
      const tables = await tablesOf(place)
      const again = await openDatabase(place)
      expect(await listWorkspaceNames(again, 'kept')).toEqual(['kept'])
      await again.close()
      expect(await tablesOf(place)).toEqual(tables)
      expect(tables).toContain('links')
    })

    test('an empty database from several processes runs the migrations once', async () => {
      const place = await emptyPlace()
      const script = `
        import { openDatabase } from ${JSON.stringify(OPEN)}
        const db = await openDatabase(${JSON.stringify(place)})
        await db.probe()
        await db.close()`
      const children = [1, 2, 3].map(() =>
        Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'pipe' }),
      )
      const said = await Promise.all(children.map((child) => new Response(child.stderr).text()))
      expect({ said, codes: await Promise.all(children.map((child) => child.exited)) }).toEqual({
        said: ['', '', ''],
        codes: [0, 0, 0],
      })
      expect(await tablesOf(place)).toContain('links')
    })

    const expansion: Migration = {
      async up(db) {
        await db.schema.alterTable('workspaces').addColumn('later', 'integer').execute()
      },
    }
    const contraction: Migration = {
      async up(db) {
        await db.schema.alterTable('workspaces').renameTo('companies').execute()
        await raiseFloor(db, '9998-expand')
      },
    }
    const upgrade = (place: DatabaseLocation, more: Record<string, Migration>) =>
      withMigrator(place, (connection) => migrate(connection, { ...listMigrations(engine), ...more }))

    test('a database of the next release works with this one beside it', async () => {
      const place = await emptyPlace()
      const running = await openDatabase(place)
      await upgrade(place, { '9998-expand': expansion })
      const restarted = await openDatabase(place)
      for (const [name, db] of Object.entries({ running, restarted })) {
        await db.write((connection) => insertWorkspace(connection, `beside-${name}`))
        await db.close()
      }
      await upgrade(place, { '9998-expand': expansion })
      const db = await openDatabase(place)
      expect(await listWorkspaceNames(db, 'beside')).toEqual(['beside-restarted', 'beside-running'])
      await db.close()
    })

    test('a database that this release cannot work with is refused, and stays as it is', async () => {
      const place = await emptyPlace()
      await upgrade(place, { '9998-expand': expansion, '9999-contract': contraction })
      const before = await tablesOf(place)
      const refused = await failure(openDatabase(place))
      expect(refused?.message).toMatch(
        /made by a newer version of Towpath.*9999-contract.*Start that version/,
      )
      expect(await tablesOf(place)).toEqual(before)
      await upgrade(place, { '9998-expand': expansion, '9999-contract': contraction })
    })

    test('a migration that fails raises no floor', async () => {
      const place = await emptyPlace()
      const failed = {
        async up(db: Kysely<unknown>) {
          await contraction.up(db)
          await sql`select * from no_such_table`.execute(db)
        },
      }
      expect(
        await failure(upgrade(place, { '9998-expand': expansion, '9999-contract': failed })),
      ).toBeDefined()
      await (await openDatabase(place)).close()
    })

    test('a database that lacks a step of this release, and has one of another, is refused', async () => {
      const place = await emptyPlace()
      await upgrade(place, { '9998-expand': expansion })
      const other = failure(upgrade(place, { '0999-sideways': expansion }))
      expect((await other)?.message).toMatch(/made by a newer version.*9998-expand/)
    })

    test('two releases that start at once both work with the result', async () => {
      const place = await emptyPlace()
      const migrator = engine === 'postgres' ? 'openPostgresMigrator' : 'openSqliteMigrator'
      const where = place.databaseUrl ?? join(place.dataDir, 'towpath.db')
      // A process of its own, because SQLite's wait for a lock blocks the event loop.
      const script = `
        import { listMigrations, migrate } from ${JSON.stringify(join(DATABASE_DIR, 'migrate.ts'))}
        import { ${migrator} } from ${JSON.stringify(join(DATABASE_DIR, `${engine}.ts`))}
        const connection = await ${migrator}(${JSON.stringify(where)})
        const later = { up: (db) => db.schema.alterTable('workspaces').addColumn('later', 'integer').execute() }
        await migrate(connection, { ...listMigrations('${engine}'), '9998-expand': later })
        await connection.destroy()`
      const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'pipe' })
      const db = await openDatabase(place)
      expect([await new Response(child.stderr).text(), await child.exited]).toEqual(['', 0])
      await db.write((connection) => insertWorkspace(connection, 'first'))
      await db.close()
    })

    test('with a migration that fails leaves nothing of it, nor of the migrations before it', async () => {
      const place = await emptyPlace()
      const broken: Migration = {
        async up(db) {
          await db.schema.createTable('half_made').addColumn('id', 'integer').execute()
          await sql`insert into half_made values (1)`.execute(db)
          await sql`select * from no_such_table`.execute(db)
        },
      }
      const steps = { ...listMigrations(engine), '0999-broken': broken }
      const told = await failure(withMigrator(place, (connection) => migrate(connection, steps)))
      expect(told?.message).toBe('The database could not be brought up to date (step 0999-broken).')
      expect(String(told?.cause)).toContain('no_such_table')
      expect(await tablesOf(place)).toEqual([])
      const db = await openDatabase(place)
      await db.write((connection) => insertWorkspace(connection, 'after'))
      expect(await listWorkspaceNames(db, 'after')).toEqual(['after'])
      await db.close()
    })

    test('and closing a database makes it refuse writes, without hanging', async () => {
      const db = await openDatabase(await emptyPlace())
      const last = db.write((connection) => insertWorkspace(connection, 'last'))
      const closing = db.close()
      const late = failure(db.write((connection) => insertWorkspace(connection, 'late')))
      expect((await last).public_id).toBe('last')
      await closing
      expect(await late).toBeInstanceOf(Error)
      await until('the late write to be refused', async () => (await late) !== undefined)
    })
  })
}
