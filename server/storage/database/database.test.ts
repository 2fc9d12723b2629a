// Runs the contract of the database on both engines, and tests the particulars of each.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import {
  type DatabaseLocation,
  insertWorkspace,
  listWorkspaceNames,
  testDatabase,
} from '../../../tests/contracts/database.ts'
import { createTestDatabase, startPostgres } from '../../../tests/support/postgres/postgres-server.ts'
import { startQuietClock, timeQuietly } from '../../../tests/support/processor-time.ts'
import { full } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { Failure } from '../../lib/failure.ts'
import { setLogLevel } from '../../lib/log.ts'
import { toFailure } from './errors.ts'
import { type Connection, type DatabaseHandle, openDatabase } from './open-database.ts'
import { openPostgresMigrator } from './postgres.ts'
import { openPool } from './postgres-pool.ts'
import { isVersionBelow, MIN_SQLITE_VERSION, openSqliteMigrator } from './sqlite.ts'

setLogLevel('silent')

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

function newDirectory(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-rows-'))
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
  return dataDir
}

async function emptyDatabase(): Promise<DatabaseLocation & { databaseUrl: string }> {
  const database = await createTestDatabase()
  ends.push(database.drop)
  return { dataDir: newDirectory(), databaseUrl: database.url }
}

async function opened(place: DatabaseLocation & { databasePool?: number }): Promise<DatabaseHandle> {
  const db = await openDatabase(place)
  ends.push(() => db.close())
  return db
}

testDatabase({
  engine: 'sqlite',
  emptyPlace: async () => ({ dataDir: newDirectory() }),
  migrator: ({ dataDir }) => openSqliteMigrator(join(dataDir, 'towpath.db')),
})
testDatabase({
  engine: 'postgres',
  emptyPlace: emptyDatabase,
  migrator: async ({ databaseUrl = '' }) => openPostgresMigrator(databaseUrl),
})

describe('sqlite', () => {
  test('has the settings that let a commit survive a power cut', async () => {
    const db = await opened({ dataDir: newDirectory() })
    const value = async (connection: Connection, pragma: string) => {
      const { rows } = await sql.raw<Record<string, number | string>>(`pragma ${pragma}`).execute(connection)
      return Object.values(rows[0] ?? {})[0]
    }
    const expected = {
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      wal_autocheckpoint: 1000,
      journal_size_limit: 64 * 1024 * 1024,
      temp_store: 2,
      mmap_size: 0,
      // The group commit waits for locks, without blocking the event loop.
      busy_timeout: 0,
    }
    const found = await db.write(async (connection) => {
      const values: Record<string, unknown> = {}
      for (const pragma of Object.keys(expected)) values[pragma] = await value(connection, pragma)
      return values
    })
    // No value when SQLite is built without memory mapping.
    expect({ ...found, mmap_size: found.mmap_size ?? 0 }).toEqual(expected)
    expect(await value(db.read, 'query_only')).toBe(0)
    const refused = insertWorkspace(db.read, 'by a reader').catch((error) => error.code)
    expect(await refused).toBe('SQLITE_READONLY')
  })

  test.each([
    ['3.51.2', true],
    ['3.7.17', true],
    ['2.99.99', true],
    ['3.51', true],
    ['3.51.3', false],
    ['3.51.10', false],
    ['3.52.0', false],
    ['3.100.0', false],
    ['4.0.0', false],
  ])('knows whether version %s is too old: %p', (version, below) => {
    expect(isVersionBelow(version, MIN_SQLITE_VERSION)).toBe(below)
  })

  test('refuses a file that is not a database, and does not change it', async () => {
    const dataDir = newDirectory()
    const path = join(dataDir, 'towpath.db')
    writeFileSync(path, 'my notes\n'.repeat(1000))
    const refused = await openDatabase({ dataDir }).catch((error: Error) => error.message)
    expect(refused).toContain('not a database')
    expect(await Bun.file(path).text()).toBe('my notes\n'.repeat(1000))
  })

  test('waits for another process’s lock without blocking the event loop', async () => {
    const dataDir = newDirectory()
    const db = await opened({ dataDir })
    const other = await lockElsewhere(dataDir)
    const order: string[] = []
    const writing = db
      .write((connection) => insertWorkspace(connection, 'patient'))
      .then(() => order.push('written'))
    // A wait that blocks the event loop would allow no ticks, and fail after 5 s.
    await letTurn(15)
    const joining = db
      .write((connection) => insertWorkspace(connection, 'patient-2'))
      .then(() => order.push('joined'))
    await letTurn(15)
    order.push('released')
    other.release()
    await Promise.all([writing, joining])
    expect(order[0]).toBe('released')
    expect(await listWorkspaceNames(db, 'patient')).toEqual(['patient', 'patient-2'])
  })

  full(
    'answers `unavailable` to a write that waits longer than 5 s, and accepts later writes',
    async () => {
      const dataDir = newDirectory()
      const db = await opened({ dataDir })
      const other = await lockElsewhere(dataDir)
      const clock = startQuietClock()
      const started = performance.now()
      // After about two seconds.
      const late = letTurn(30).then(() => db.write((connection) => insertWorkspace(connection, 'late')))
      const refused = await db
        .write((connection) => insertWorkspace(connection, 'refused'))
        .catch((error: unknown) => error)
      expect(performance.now() - started).toBeGreaterThan(4900)
      expect(clock.elapsed()).toBeLessThan(9000)
      clock.stop()
      expect(refused).toBeInstanceOf(Failure)
      expect((refused as Failure).code).toBe('unavailable')
      expect((refused as Failure).detail.retryAfter).toBeGreaterThan(0)
      other.release()
      await late
      await db.write((connection) => insertWorkspace(connection, 'next'))
      expect(await listWorkspaceNames(db, '')).toEqual(['late', 'next'])
    },
    120_000,
  )

  test('has the commits of a killed process, and is not locked by it', async () => {
    const dataDir = newDirectory()
    const db = await opened({ dataDir })
    const other = await lockElsewhere(dataDir)
    other.kill()
    await db.write((connection) => insertWorkspace(connection, 'heir'))
    expect(await listWorkspaceNames(db, 'heir')).toEqual(['heir'])
  })
})

/** Lets the event loop turn, with pauses that become longer. */
async function letTurn(turns: number) {
  for (let left = turns; left > 0; ) await until('some turns', () => --left <= 0)
}

/** Starts a process that holds the write lock until the test releases it. */
async function lockElsewhere(dataDir: string) {
  const script = `
    const { Database } = require('bun:sqlite')
    const database = new Database(${JSON.stringify(join(dataDir, 'towpath.db'))})
    database.run('begin immediate')
    console.log('locked')
    for await (const _ of Bun.stdin.stream()) {}
    database.run('rollback')`
  const child = Bun.spawn([process.execPath, '-e', script], { stdin: 'pipe', stdout: 'pipe' })
  for await (const _ of child.stdout) break
  return { release: () => void child.stdin.end(), kill: () => child.kill('SIGKILL') }
}

const toInsert = ({ read }: Pick<DatabaseHandle, 'read'>, name: string) =>
  sql`insert into workspaces (public_id, name, plan, created_at, updated_at)
    values (${name}, ${name}, 'pro', 1, 2) returning public_id`.compile(read)

describe('postgresql', () => {
  test.each([
    ['off', 'on'],
    ['local', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('with synchronous_commit %s in the database, uses %s', async (theirs, ours) => {
    const place = await emptyDatabase()
    await openDatabase(place).then((db) => db.close())
    const name = new URL(place.databaseUrl).pathname.slice(1)
    const migrator = openPostgresMigrator(place.databaseUrl)
    await sql.raw(`alter database ${name} set synchronous_commit = ${theirs}`).execute(migrator)
    await migrator.destroy()
    const db = await opened(place)
    const seen = await Promise.all(
      Array.from({ length: 12 }, () =>
        db.write(async (connection) => {
          const found = await sql<{ setting: string }>`
            select current_setting('synchronous_commit') as setting, pg_sleep(0.02)`.execute(connection)
          return found.rows[0]?.setting
        }),
      ),
    )
    expect(new Set(seen)).toEqual(new Set([ours]))
  })

  test('leaves no state in a session, so that a pooler may share it', async () => {
    const db = await opened({ ...(await emptyDatabase()), databasePool: 1 })
    await db.write((connection) => insertWorkspace(connection, 'state'))
    await db.write(async () => Promise.reject(new Error('rolled back'))).catch(() => {})
    await db.probe()
    const { rows } = await sql<Record<string, unknown>>`
      select (select array_agg(name) from pg_settings where source = 'session') as settings,
        (select count(*)::int from pg_locks where locktype = 'advisory') as locks,
        (select count(*)::int from pg_prepared_statements) as statements,
        (select count(*)::int from pg_listening_channels()) as channels`.execute(db.read)
    expect(rows).toEqual([{ settings: null, locks: 0, statements: 0, channels: 0 }])
  })

  test('opens no more connections than it may', async () => {
    const db = await opened({ ...(await emptyDatabase()), databasePool: 3 })
    const pids = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const { rows } = await sql<{ pid: number }>`
          select pg_backend_pid() as pid, pg_sleep(0.01)`.execute(db.read)
        return rows[0]?.pid
      }),
    )
    expect(new Set(pids).size).toBeWithin(1, 4)
  })

  test('tells a caller who waits too long for a connection to come again', async () => {
    const pool = openPool((await emptyDatabase()).databaseUrl, 1, 0)
    ends.push(() => pool.end())
    const busy = await pool.connect()
    pool.options.connectionTimeoutMillis = 1
    const refused = toFailure(await pool.connect().catch((error) => error))
    expect(refused).toMatchObject({ code: 'unavailable', detail: { retryAfter: 5 } })
    busy.release()
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  full('refuses a read and a write that wait too long for a connection as `unavailable`', async () => {
    const db = await opened({ ...(await emptyDatabase()), databasePool: 1 })
    const waited = Promise.withResolvers<void>()
    const holding = db.write((connection) => waited.promise.then(() => insertWorkspace(connection, 'wait-1')))
    const outcomes = await Promise.allSettled([
      db.write((connection) => insertWorkspace(connection, 'wait-2')),
      listWorkspaceNames(db, 'wait-'),
    ])
    for (const each of outcomes)
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { code: 'unavailable', detail: { retryAfter: 5 } },
      })
    waited.resolve()
    await holding
    expect(await listWorkspaceNames(db, 'wait-')).toEqual(['wait-1'])
  })

  test('stops a read that takes too long, and gives its connection to nobody', async () => {
    const pool = openPool((await emptyDatabase()).databaseUrl, 1, 200)
    ends.push(() => pool.end())
    const client = await pool.connect()
    await expect(client.query('select pg_sleep(600)')).rejects.toThrow('Query read timeout')
    client.release()
    const asleep = `select count(*)::int as asleep from pg_stat_activity
      where query like 'select pg_sleep(600)' and state = 'active' and datname = current_database()`
    await until('the query to end', async () => (await pool.query(asleep)).rows[0].asleep === 0)
  })

  test('stores all of several statements or none, and names the one that PostgreSQL has refused', async () => {
    const db = await opened(await emptyDatabase())
    const store = async (...names: string[]) => db.writeStatements?.(names.map((name) => toInsert(db, name)))
    expect(await store('all-1', 'all-2')).toEqual([[{ public_id: 'all-1' }], [{ public_id: 'all-2' }]])
    const stored = await Promise.allSettled([store('all-3', 'all-1', 'all-4'), store('all-5')])
    expect(stored).toMatchObject([
      { status: 'rejected', reason: { code: '23505' } },
      { status: 'fulfilled', value: [[{ public_id: 'all-5' }]] },
    ])
    expect(await listWorkspaceNames(db, 'all-')).toEqual(['all-1', 'all-2', 'all-5'])
  })

  test('reads lists of bigint as numbers', async () => {
    const db = await opened(await emptyDatabase())
    const { rows: found } = await sql<{ some: number[]; none: number[] }>`
      select array[1, 9007199254740991]::bigint[] as some, '{}'::bigint[] as none`.execute(db.read)
    expect(found).toEqual([{ some: [1, 9007199254740991], none: [] }])
  })

  full(
    'fails at most the request whose connection is cut, at any moment',
    async () => {
      const place = await emptyDatabase()
      const db = await opened(place)
      const knife = openPostgresMigrator(place.databaseUrl)
      ends.push(() => knife.destroy())
      let round = 0
      const cut = () =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(knife)
      const acknowledged: string[] = []
      const failures: unknown[] = []
      let cutting = true
      const writer = async (worker: number) => {
        while (cutting) {
          const name = `cut-${worker}-${round++}`
          try {
            if (worker === 0) await db.writeStatements?.([toInsert(db, name)])
            else
              await db.write(async (connection) => {
                const row = await insertWorkspace(connection, name)
                // Cut the connection between two statements, while no query runs.
                if (round % 3 === 0) await letTurn(2)
                return row
              })
            acknowledged.push(name)
          } catch (error) {
            failures.push(error)
            await letTurn(2)
          }
        }
      }
      const writers = Array.from({ length: 12 }, (_, i) => writer(i))
      try {
        for (let i = 0; i < 12; i++) {
          const before = acknowledged.length
          await cut()
          await until('writes after the cut', () => acknowledged.length > before + 2)
        }
      } finally {
        cutting = false
      }
      await Promise.all(writers)
      for (const error of failures) expect(toFailure(error)).toMatchObject({ code: 'unavailable' })
      const found = new Set(await listWorkspaceNames(db, 'cut-'))
      expect(acknowledged.filter((name) => !found.has(name))).toEqual([])
      expect(acknowledged.length).toBeGreaterThan(24)
      await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          db.write((connection) => insertWorkspace(connection, `whole-${i}`)),
        ),
      )
      expect(await listWorkspaceNames(db, 'whole-')).toHaveLength(30)
    },
    120_000,
  )

  test('reports an unreachable server at the start, and `unavailable` later', async () => {
    const server = await startPostgres()
    ends.push(server.end)
    const place = { dataDir: newDirectory(), databaseUrl: server.url }
    const db = await opened(place)
    await server.stop('immediate')
    const [[write, again], ms] = await timeQuietly(() =>
      Promise.allSettled([db.write((connection) => insertWorkspace(connection, 'x')), openDatabase(place)]),
    )
    expect(ms).toBeLessThan(6000)
    expect((write as PromiseRejectedResult).reason).toMatchObject({ code: 'unavailable' })
    expect((again as PromiseRejectedResult).reason.message).toStartWith('The database cannot be reached.')
    await server.start()
    await until('writes to be taken again', () =>
      db.probe().then(
        () => true,
        () => false,
      ),
    )
  }, 120_000)
})
