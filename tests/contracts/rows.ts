// What every row store must do, whichever engine is behind it. server/storage/rows/rows.test.ts holds both to it.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Migration, sql } from 'kysely'
import { Failure } from '../../server/lib/failure.ts'
import { isUniqueViolation } from '../../server/storage/rows/errors.ts'
import { migrate, migrations } from '../../server/storage/rows/migrate.ts'
import { type Db, type Engine, openRows, type RowStore, rowsWithin } from '../../server/storage/rows/open.ts'
import { until } from '../support/server.ts'

/** Where a store is, as the configuration names it. */
export interface Place {
  dataDir: string
  databaseUrl?: string
}

export interface Subject {
  engine: Engine
  /** An empty place, which the subject removes at the end. */
  emptyPlace(): Promise<Place>
  /** A connection for migrations; whoever asks destroys it. */
  migrator(place: Place): Promise<Db>
}

/** Inserts a workspace: the smallest row with an id, a unique text and numbers. */
export const insert = (db: Db, name: string) =>
  db
    .insertInto('workspaces')
    .values({ public_id: name, name, plan: 'pro', created_at: 1, updated_at: 2 })
    .returningAll()
    .executeTakeFirstOrThrow()

/** Which of these names are stored, in order. */
export async function stored(rows: Pick<RowStore, 'read'>, prefix: string): Promise<string[]> {
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

export function rowsContract(subject: Subject) {
  setDefaultTimeout(20_000)
  describe(`rows: ${subject.engine}`, () => {
    let place: Place
    let rows: RowStore
    beforeAll(async () => {
      place = await subject.emptyPlace()
      rows = await openRows(place)
    }, 60_000)
    afterAll(() => rows?.close())

    writing(() => rows)
    savepoints(() => rows)
    violations(() => rows)
    values(() => rows)
    opening(subject)
  })
}

function writing(rows: () => RowStore) {
  describe('a write', () => {
    test('resolves with what the verb returned, once everybody can read it', async () => {
      const { id } = await rows().write((db) => insert(db, 'plain'))
      expect(await stored(rows(), 'plain')).toEqual(['plain'])
      expect(id).toBeInteger()
    })

    test('is not there for others before it is committed', async () => {
      let seen: string[] | undefined
      await rows().write(async (db) => {
        await insert(db, 'unseen')
        seen = await stored(rows(), 'unseen')
      })
      expect(seen).toEqual([])
      expect(await stored(rows(), 'unseen')).toEqual(['unseen'])
    })

    test('that throws is rolled back alone; its neighbours of the same turn are stored', async () => {
      const outcomes = await Promise.allSettled([
        rows().write((db) => insert(db, 'n1')),
        rows().write(async (db) => {
          await insert(db, 'n2')
          throw new Failure('conflict', 'not this one')
        }),
        rows().write((db) => insert(db, 'n3')),
        rows().write(async (db) => {
          await insert(db, 'n4')
          await insert(db, 'n4')
        }),
        rows().write((db) => insert(db, 'n5')),
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
      expect(await stored(rows(), 'n')).toEqual(['n1', 'n3', 'n5'])
    })

    test('that goes on after a failed statement is either stored or refused, never refused in silence', async () => {
      const outcome = await Promise.allSettled([
        rows().write(async (db) => {
          await insert(db, 'swallow-1')
          await insert(db, 'swallow-1').catch(() => undefined)
        }),
      ])
      const found = await stored(rows(), 'swallow')
      expect(found).toEqual(outcome[0].status === 'fulfilled' ? ['swallow-1'] : [])
    })

    test('that leaves a query behind does not have it stored with somebody else’s', async () => {
      let left: Promise<unknown> | undefined
      const outcomes = await Promise.allSettled([
        rows().write(async (db) => {
          // As in Promise.all, where the first failure ends the verb and the others are not waited for.
          left = Promise.resolve()
            .then(() => insert(db, 'left-behind'))
            .catch(() => 'refused')
          throw new Error('the verb ends here')
        }),
        rows().write((db) => insert(db, 'left-neighbour')),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      await left
      await rows().write((db) => insert(db, 'left-next'))
      expect(await stored(rows(), 'left')).toEqual(['left-neighbour', 'left-next'])
    })

    test('calls what waits for the commit after it, and before it resolves', async () => {
      const order: string[] = []
      const done = rows().write(async (db, onCommit) => {
        onCommit(() => order.push('called'))
        await insert(db, 'told')
        order.push('verb ended')
      })
      await done.then(() => order.push('resolved'))
      expect(order).toEqual(['verb ended', 'called', 'resolved'])
    })

    test('that throws calls nothing', async () => {
      const calls: string[] = []
      const outcomes = await Promise.allSettled([
        rows().write(async (db, onCommit) => {
          onCommit(() => calls.push('failed'))
          await insert(db, 'silent-1')
          throw new Error('after registering')
        }),
        rows().write(async (db, onCommit) => {
          onCommit(() => calls.push('stored'))
          await insert(db, 'silent-2')
        }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      expect(calls).toEqual(['stored'])
    })

    test('is stored even where what waited for its commit throws, and so are the next ones', async () => {
      await rows().write(async (db, onCommit) => {
        onCommit(failing('a listener of ours'))
        await insert(db, 'listened-1')
      })
      await rows().write((db) => insert(db, 'listened-2'))
      expect(await stored(rows(), 'listened')).toEqual(['listened-1', 'listened-2'])
    })

    test('among 2,000 at once: each is stored and gets its own answer', async () => {
      const names = Array.from({ length: 2000 }, (_, i) => `many-${String(i).padStart(4, '0')}`)
      const made = await Promise.all(names.map((name) => rows().write((db) => insert(db, name))))
      expect(made.map((row) => row.public_id)).toEqual(names)
      expect(new Set(made.map(({ id }) => id)).size).toBe(2000)
      expect(await stored(rows(), 'many-')).toEqual(names)
    })

    test('asked for in the moment another one ends is never forgotten', async () => {
      const chains = Array.from({ length: 7 }, async (_, chain) => {
        for (let i = 0; i < 60; i++) {
          await rows().write((db) => insert(db, `chain-${chain}-${i}`))
          for (let turns = 0; turns < i % 8; turns++) await undefined
        }
      })
      await Promise.all(chains)
      expect(await stored(rows(), 'chain-')).toHaveLength(420)
    })

    test('proves that the store takes writes without changing anything', async () => {
      await rows().probe()
      expect(await rows().read.selectFrom('click_marks').selectAll().execute()).toEqual([])
    })
  })
}

function savepoints(rows: () => RowStore) {
  describe('a write within a write', () => {
    test('that fails is rolled back alone', async () => {
      const calls: string[] = []
      await rows().write(async (db, onCommit) => {
        const inner = rowsWithin(rows(), db, onCommit)
        await insert(db, 'in-outer')
        const failed = inner.write(async (db, onCommit) => {
          onCommit(() => calls.push('failed'))
          await insert(db, 'in-failed')
          await insert(db, 'in-failed')
        })
        expect(isUniqueViolation(await failed.catch((error) => error))).toBe(true)
        await inner.write(async (db, onCommit) => {
          onCommit(() => calls.push('stored'))
          await insert(db, 'in-stored')
        })
        expect(await stored(inner, 'in-')).toEqual(['in-outer', 'in-stored'])
        expect(calls).toEqual([])
      })
      expect(calls).toEqual(['stored'])
      expect(await stored(rows(), 'in-')).toEqual(['in-outer', 'in-stored'])
    })

    test('is rolled back with it when the outer one fails, and nothing is called', async () => {
      const calls: string[] = []
      const outer = rows().write(async (db, onCommit) => {
        const inner = rowsWithin(rows(), db, onCommit)
        await inner.write(async (db, onCommit) => {
          onCommit(() => calls.push('inner'))
          await insert(db, 'out-inner')
        })
        throw new Error('the outer one')
      })
      expect(((await outer.catch((error) => error)) as Error).message).toBe('the outer one')
      expect(calls).toEqual([])
      expect(await stored(rows(), 'out-')).toEqual([])
    })

    test('fails alone among others that were begun at once', async () => {
      await rows().write(async (db, onCommit) => {
        const inner = rowsWithin(rows(), db, onCommit)
        await Promise.allSettled([
          inner.write(async (db) => {
            await insert(db, 'side-1')
            await Bun.sleep(1)
            throw new Error('this one')
          }),
          inner.write((db) => insert(db, 'side-2')),
        ])
      })
      expect(await stored(rows(), 'side-')).toEqual(['side-2'])
    })

    test('nests again', async () => {
      await rows().write(async (db, onCommit) => {
        await rowsWithin(rows(), db, onCommit).write(async (db, onCommit) => {
          await insert(db, 'deep-1')
          const innermost = rowsWithin(rows(), db, onCommit).write(async (db) => {
            await insert(db, 'deep-2')
            throw new Error('innermost')
          })
          await innermost.catch(() => undefined)
          await insert(db, 'deep-3')
        })
      })
      expect(await stored(rows(), 'deep-')).toEqual(['deep-1', 'deep-3'])
    })
  })
}

function violations(rows: () => RowStore) {
  test('a violated constraint is known by its index', async () => {
    const workspace = await rows().write((db) => insert(db, 'violated'))
    const tag = { workspace_id: workspace.id, name: 'A', name_key: 'a', color: 'gray', created_at: 1 }
    const made = await rows().write((db) =>
      db.insertInto('tags').values(tag).returning('id').executeTakeFirstOrThrow(),
    )
    const errorOf = async (verb: (db: Db) => Promise<unknown>) =>
      rows()
        .write(verb)
        .then(
          () => undefined,
          (error: unknown) => error,
        )
    const twice = await errorOf((db) => db.insertInto('tags').values(tag).execute())
    const name = { index: 'tags_workspace_name', columns: ['workspace_id', 'name_key'] }
    const other = { index: 'links_domain_slug', columns: ['domain', 'slug_key'] }
    expect(isUniqueViolation(twice)).toBe(true)
    expect(isUniqueViolation(twice, name)).toBe(true)
    expect(isUniqueViolation(twice, other)).toBe(false)
    const key = { workspace_id: workspace.id, link_id: 1, tag_id: made.id }
    for (const [what, verb] of [
      ['a foreign key', (db: Db) => db.insertInto('link_tags').values(key).execute()],
      [
        'a missing value',
        (db: Db) =>
          db
            .insertInto('tags')
            .values({ ...tag, name: null as never })
            .execute(),
      ],
      ['a mistake of ours', (db: Db) => sql`select no_such_column from tags`.execute(db)],
    ] as const) {
      const error = await errorOf(verb)
      expect(error, what).toBeInstanceOf(Error)
      expect(error, what).not.toBeInstanceOf(Failure)
      expect(isUniqueViolation(error), what).toBe(false)
    }
  })
}

function values(rows: () => RowStore) {
  test('ids, counters, times, counts and sums are numbers; what is absent is null', async () => {
    const big = 2 ** 52 + 1
    const workspace = await rows().write((db) => insert(db, 'numbers'))
    const link = await rows().write((db) =>
      db
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
    const changed = await rows().write((db) =>
      db.updateTable('links').set({ clicks: sql`clicks + 1` }).where('id', '=', link.id).executeTakeFirst(),
    )
    expect(changed.numUpdatedRows).toBe(1n)
  })
}

const OPEN = join(import.meta.dir, '../../server/storage/rows/open.ts')

function opening({ engine, emptyPlace, migrator }: Subject) {
  async function withMigrator<T>(place: Place, work: (db: Db) => Promise<T>): Promise<T> {
    const db = await migrator(place)
    try {
      return await work(db)
    } finally {
      await db.destroy()
    }
  }
  const tablesOf = (place: Place) =>
    withMigrator(place, async (db) => (await db.introspection.getTables()).map((table) => table.name).sort())
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: Error) => error,
    )

  describe('opening', () => {
    test('twice changes nothing and keeps what is stored', async () => {
      const place = await emptyPlace()
      const first = await openRows(place)
      await first.write((db) => insert(db, 'kept'))
      await first.close()
      const tables = await tablesOf(place)
      const again = await openRows(place)
      expect(await stored(again, 'kept')).toEqual(['kept'])
      await again.close()
      expect(await tablesOf(place)).toEqual(tables)
      expect(tables).toContain('links')
    })

    test('an empty database from several processes at once brings it up to date once', async () => {
      const place = await emptyPlace()
      const script = `
        import { openRows } from ${JSON.stringify(OPEN)}
        const rows = await openRows(${JSON.stringify(place)})
        await rows.probe()
        await rows.close()`
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

    test('a database made by a newer version is refused with a sentence that names what to do', async () => {
      const place = await emptyPlace()
      await (await openRows(place)).close()
      await withMigrator(place, (db) =>
        sql`insert into kysely_migration values ('9999-later', '2099-01-01T00:00:00.000Z')`.execute(db),
      )
      const refused = await failure(openRows(place))
      expect(refused?.message).toMatch(/made by a newer version of Towpath.*9999-later.*Start that version/)
      await withMigrator(place, (db) => sql`delete from kysely_migration where name like '9999%'`.execute(db))
      await (await openRows(place)).close()
    })

    test('with a step that fails leaves nothing of it behind, nor of the steps before it', async () => {
      const place = await emptyPlace()
      const broken: Migration = {
        async up(db) {
          await db.schema.createTable('half_made').addColumn('id', 'integer').execute()
          await sql`insert into half_made values (1)`.execute(db)
          await sql`select * from no_such_table`.execute(db)
        },
      }
      const steps = { ...migrations(engine), '0999-broken': broken }
      const told = await failure(withMigrator(place, (db) => migrate(db, steps)))
      expect(told?.message).toBe('The database could not be brought up to date (step 0999-broken).')
      expect(String(told?.cause)).toContain('no_such_table')
      expect(await tablesOf(place)).toEqual([])
      const rows = await openRows(place)
      await rows.write((db) => insert(db, 'after'))
      expect(await stored(rows, 'after')).toEqual(['after'])
      await rows.close()
    })

    test('a store that was closed refuses writes, and does not hang', async () => {
      const rows = await openRows(await emptyPlace())
      const last = rows.write((db) => insert(db, 'last'))
      const closing = rows.close()
      const late = failure(rows.write((db) => insert(db, 'late')))
      expect((await last).public_id).toBe('last')
      await closing
      expect(await late).toBeInstanceOf(Error)
      await until('the late write to be refused', async () => (await late) !== undefined)
    })
  })
}
