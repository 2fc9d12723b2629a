// The feed of changes on real databases: what one process commits, another applies, in whatever order the commits come.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import pg from 'pg'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { withOldDatabase } from '../../../tests/support/old-database.ts'
import { type PostgresServer, startPostgres } from '../../../tests/support/postgres/postgres-server.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { type Change, type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { HOLE_MS } from './change-cursor.ts'
import { type ChangeFeed, type ChangeFeedNeeds, openChangeFeed } from './change-feed.ts'
import { CHANGES_KEPT_MS, pruneChanges } from './prune-changes.ts'

setDefaultTimeout(120_000)

const dataDir = mkdtempSync(join(tmpdir(), 'towpath-feed-'))
const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Polls only when it is told to, unless `everyMs` says otherwise. */
async function follow(db: DatabaseHandle, options: Partial<ChangeFeedNeeds> = {}) {
  const applied: string[] = []
  const feed = await openChangeFeed({
    db,
    everyMs: 1e9,
    invalidateLink: (domain, slugKey) => applied.push(`${domain}/${slugKey}`),
    invalidateWorkspace: (id) => applied.push(`workspace ${id}`),
    invalidateAll: () => applied.push('all'),
    ...options,
  })
  closers.push(feed.close)
  const news = async () => {
    await feed.poll()
    return applied.splice(0)
  }
  await news()
  return { feed, applied, news }
}

const record = (db: DatabaseHandle, ...changes: Change[]) =>
  db.write(async (_, onCommit) => recordChange(onCommit, ...changes))
const link = (slugKey: string) => ({ domain: '', slugKey })

/** A transaction that has taken its number, as one that is slow to commit. */
async function hold(url: string, slugKey: string) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query(`insert into changes (domain, slug_key) values ('', $1)`, [slugKey])
  return async (end: 'commit' | 'rollback') => {
    await client.query(end)
    await client.end()
  }
}

describe('on PostgreSQL', () => {
  let url: string
  let db: DatabaseHandle
  beforeAll(async () => {
    url = (await migratedDatabase()).url
    db = await openDatabase({ dataDir, databaseUrl: url })
    closers.push(db.close)
  })

  test('changes of a transaction are told once, after its commit, and those of a failed one never', async () => {
    const { news } = await follow(db)
    await record(db, link('a'), { workspaceId: 7 }, { domain: 'go.example', slugKey: 'é/😀\'"\\' }, link('a'))
    expect((await news()).sort()).toEqual(['/a', 'go.example/é/😀\'"\\', 'workspace 7'])
    const failing = db.write(async (_, onCommit) => {
      recordChange(onCommit, link('never'))
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(await news()).toEqual([])
    await record(db, link('b'))
    expect(await news()).toEqual(['/b'])
  })

  test('a later change is told while an earlier number is held, and the held one once it commits', async () => {
    const { news, feed } = await follow(db)
    const [first, second] = [await hold(url, 'held'), await hold(url, 'rolled back')]
    await record(db, link('later'))
    expect(await news()).toEqual(['/later'])
    expect(await news()).toEqual([])
    expect(feed.metrics()[1]?.value).toBe(2)
    await first('commit')
    await second('rollback')
    expect(await news()).toEqual(['/held'])
    expect(await news()).toEqual([])
  })

  test('a number that was taken before this process started is told too', async () => {
    const end = await hold(url, 'older')
    await record(db, link('newer'))
    const { news } = await follow(db)
    await end('commit')
    expect(await news()).toEqual(['/older'])
  })

  test('a number that never comes is no longer asked for after two minutes', async () => {
    let now = 0
    const { news, feed } = await follow(db, { clock: () => now })
    const holes = () => feed.metrics()[1]?.value
    const before = holes() as number
    const end = await hold(url, 'never')
    await record(db, link('a'))
    await news()
    expect(holes()).toBe(before + 1)
    await end('rollback')
    now = HOLE_MS
    await news()
    expect(holes()).toBe(0)
  })

  test('rows are pruned after ten minutes; a process that has not read them empties its caches', async () => {
    const [cutOff, awake] = [await follow(db), await follow(db)]
    await record(db, link('a'))
    await record(db, link('b'))
    expect(await awake.news()).toEqual(['/a', '/b'])
    await db.write((connection) =>
      connection
        .updateTable('changes')
        .set({ at: sql`at - ${CHANGES_KEPT_MS}::bigint - 1` })
        .where('seq', '<', sql<number>`(select max(seq) from changes)`)
        .execute(),
    )
    const count = async () => (await db.read.selectFrom('changes').select('seq').execute()).length
    await pruneChanges(db)
    // The newest of the old rows stays, because a process that starts begins there.
    expect(await count()).toBe(2)
    await record(db, link('c'))
    expect(await cutOff.news()).toEqual(['all', '/b', '/c'])
    expect(await awake.news()).toEqual(['/c'])
    await pruneChanges(db)
    expect(await count()).toBe(3)
  })

  test('a database that went back to an older copy voids everything', async () => {
    const { news } = await follow(db)
    await record(db, link('a'))
    await news()
    // After a failover without the last commits, the same number belongs to another change.
    await sql`update changes set at = at + 1, slug_key = 'other' where seq = (select max(seq) from changes)`.execute(
      db.read,
    )
    expect((await news())[0]).toBe('all')
    await record(db, link('b'))
    expect(await news()).toEqual(['/b'])
  })

  test('more holes than can be asked for: nothing is trusted for two minutes, and then all is voided', async () => {
    let now = 1e6
    const { feed, news } = await follow(db, { clock: () => now })
    expect(feed.followedUntil()).toBe(now)
    await sql`select setval(pg_get_serial_sequence('changes', 'seq'), (select max(seq) from changes) + 20000)`.execute(
      db.read,
    )
    await record(db, link('a'))
    now += 1_000
    expect(await news()).toEqual(['/a'])
    expect(feed.followedUntil()).toBe(1e6)
    now += HOLE_MS
    expect(await news()).toEqual(['all'])
    expect(feed.followedUntil()).toBe(now)
  })

  test('in whatever order numbers are taken, committed and read, each change is told after its commit', async () => {
    const step = fc.constantFrom('begin', 'commit', 'rollback', 'poll', 'poll') satisfies fc.Arbitrary<string>
    const { news } = await follow(db)
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat()), { maxLength: 40 }), async (steps) => {
        const open: { name: string; end: (how: 'commit' | 'rollback') => Promise<void> }[] = []
        let committed: string[] = []
        for (const [what, pick] of steps) {
          if (what === 'begin' && open.length < 4) {
            const name = `p${number++}`
            open.push({ name, end: await hold(url, name) })
          } else if (what === 'poll') {
            expect((await news()).sort()).toEqual(committed.map((name) => `/${name}`).sort())
            committed = []
          } else if (what !== 'begin') {
            const [ended] = open.splice(pick % Math.max(1, open.length), 1)
            await ended?.end(what)
            if (ended && what === 'commit') committed.push(ended.name)
          }
        }
        for (const { name, end } of open) {
          await end('commit')
          committed.push(name)
        }
        expect((await news()).sort()).toEqual(committed.map((name) => `/${name}`).sort())
      }),
      { numRuns: atScale({ full: 20, soak: 500 }) },
    )
  })
})

test('after an upgrade, nothing is trusted while servers of the release before may still run', async () => {
  await withOldDatabase('postgres', async ({ db: read, upgrade }) => {
    const at = Date.UTC(2026, 5, 11, 12)
    await read
      .insertInto('workspaces')
      .values({ public_id: 'ws_old', name: 'Old', plan: 'pro', created_at: at, updated_at: at })
      .execute()
    await upgrade()
    let now = 0
    const { feed, news } = await follow({ engine: 'postgres', read } as DatabaseHandle, { clock: () => now })
    expect(await news()).toEqual([])
    expect(feed.followedUntil()).toBe(Number.NEGATIVE_INFINITY)
    now = CHANGES_KEPT_MS
    expect(await news()).toEqual(['all'])
    expect(feed.followedUntil()).toBe(now)
  })
})

describe('on SQLite', () => {
  test('the command line tells a server; a server, which alone has caches, stores no rows', async () => {
    const server = await openDatabase({ dataDir, isSoleServer: true })
    const command = await openDatabase({ dataDir })
    closers.push(server.close, command.close)
    const announced: Change[] = []
    server.watchChanges((change) => announced.push(change))
    const { news } = await follow(server)
    await Promise.all([record(command, link('a'), link('b')), record(command, { workspaceId: 3 })])
    expect((await news()).sort()).toEqual(['/a', '/b', 'workspace 3'])
    await record(server, link('own'))
    expect([await news(), announced]).toEqual([[], [link('own')]])
  })
})

describe('a database that is away', () => {
  let postgres: PostgresServer
  let db: DatabaseHandle
  let feed: ChangeFeed
  let applied: string[]
  beforeAll(async () => {
    postgres = await startPostgres()
    db = await openDatabase({ dataDir, databaseUrl: postgres.url })
    ;({ feed, applied } = await follow(db, { everyMs: 50 }))
    closers.push(postgres.end, db.close)
  })

  test('leaves the feed behind, and it goes on with what it has missed', async () => {
    const lag = () => feed.metrics()[0]?.value as number
    await until('a poll', () => lag() < 1)
    await postgres.stop('immediate')
    const last = feed.followedUntil()
    await until('a lag', () => lag() > 1)
    expect(feed.followedUntil()).toBeLessThan(last + 500)
    await postgres.start()
    const other = await openDatabase({ dataDir, databaseUrl: postgres.url })
    await record(other, link('missed'))
    await other.close()
    await until('the change', () => applied.includes('/missed'))
    expect(applied).not.toContain('all')
    await until('a fresh feed', () => lag() < 1)
  })
})
