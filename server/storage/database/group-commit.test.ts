// Group commit: writes that share a commit, and the event loop meanwhile.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openGroupCommit } from './group-commit.ts'

/** The number of commits, and the write queue. */
function counted() {
  const database = new Database(':memory:', { strict: true })
  database.run('create table click_marks (node text, batch integer)')
  let commits = 0
  const run = database.run.bind(database)
  database.run = ((text: string) => {
    if (text === 'COMMIT') commits++
    return run(text)
  }) as typeof database.run
  const stored = () => database.query('select count(*) from click_marks').values()[0]?.[0]
  return { queue: openGroupCommit(database), stored, commits: () => commits }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('writes of consecutive turns share a commit', async () => {
  const { queue, stored, commits } = counted()
  const writes: Promise<unknown>[] = []
  for (let node = 0; node < 20; node++) {
    writes.push(
      queue.write((connection) =>
        connection
          .insertInto('click_marks')
          .values({ node: `${node}`, batch: 1 })
          .execute(),
      ),
    )
    await turn()
  }
  await Promise.all(writes)
  expect([commits(), stored()]).toEqual([1, 20])
})

test('a single write does not wait for others', async () => {
  const { queue, commits } = counted()
  for (let node = 0; node < 3; node++) {
    await queue.write((connection) =>
      connection
        .insertInto('click_marks')
        .values({ node: `${node}`, batch: 1 })
        .execute(),
    )
  }
  expect(commits()).toBe(3)
})

test('the event loop runs between the writes of a commit, and writes that arrive then join it', async () => {
  const { queue, stored, commits } = counted()
  const slow = (node: string) =>
    queue.write(async (connection) => {
      const end = performance.now() + 1
      while (performance.now() < end);
      await connection.insertInto('click_marks').values({ node, batch: 1 }).execute()
    })
  let turns = 0
  let late: Promise<unknown> | undefined
  const watch = () => {
    turns++
    // The first two turns come before the commit.
    if (turns === 6) late = slow('late')
    if (commits() === 0) setImmediate(watch)
  }
  const writes = Array.from({ length: 30 }, (_, node) => slow(`${node}`))
  setImmediate(watch)
  await Promise.all(writes)
  await late
  expect(turns).toBeGreaterThan(8)
  expect([commits(), stored()]).toEqual([1, 31])
})

/** Counts the log's syncs, and lets the test end them. */
function syncedQueue() {
  const database = new Database(':memory:', { strict: true })
  database.run('create table click_marks (node text, batch integer)')
  const syncs: PromiseWithResolvers<void>[] = []
  let rewrites = 0
  const logSync = {
    sync() {
      const sync = Promise.withResolvers<void>()
      syncs.push(sync)
      return sync.promise
    },
    rewrite() {
      rewrites++
    },
  }
  const queue = openGroupCommit(database, { logSync })
  const write = (node: string) =>
    queue.write(async (connection) => {
      await connection.insertInto('click_marks').values({ node, batch: 1 }).execute()
      return (await connection.selectFrom('click_marks').select('node').execute()).length
    })
  const read = () =>
    queue.write((connection) => connection.selectFrom('click_marks').select('node').execute())
  const untilSync = async (count: number) => {
    while (syncs.length < count) await turn()
    return syncs[count - 1] as PromiseWithResolvers<void>
  }
  return { queue, write, read, untilSync, syncs, rewrites: () => rewrites }
}

test('a write is answered after the sync of its commit, and the next transaction begins after it', async () => {
  const { queue, write, untilSync, syncs } = syncedQueue()
  let settled = 0
  const note = <T>(value: T) => {
    settled++
    return value
  }
  const first = write('a').then(note)
  const sync = await untilSync(1)
  const second = write('b').then(note)
  // The event loop goes on meanwhile.
  for (let i = 0; i < 20; i++) await turn()
  expect([settled, syncs.length]).toEqual([0, 1])
  sync.resolve()
  expect(await first).toBe(1)
  expect(settled).toBe(1)
  const next = await untilSync(2)
  next.resolve()
  expect(await second).toBe(2)
  await queue.close()
})

test('a transaction that changes nothing needs no sync', async () => {
  const { queue, read, syncs } = syncedQueue()
  expect(await read()).toEqual([])
  expect(syncs).toEqual([])
  await queue.close()
})

test('when the disk refuses a sync, its writes fail, and the log is written anew before the next one', async () => {
  const { queue, write, read, untilSync, rewrites } = syncedQueue()
  const refused = write('a')
  const sync = await untilSync(1)
  sync.reject(new Error('EIO'))
  expect(await refused.catch((error) => error.code)).toBe('unavailable')
  const looking = read()
  const next = await untilSync(2)
  expect(rewrites()).toBe(1)
  next.resolve()
  await looking
  const later = write('b')
  ;(await untilSync(3)).resolve()
  // The row of the failed write may be stored: nobody knows.
  expect(await later).toBe(2)
  const last = write('c')
  const fourth = await untilSync(4)
  fourth.resolve()
  await last
  expect(rewrites()).toBe(1)
  await queue.close()
})

test('a pause comes between two transactions, and writes wait for its end', async () => {
  const { queue, stored } = counted()
  const write = (node: string) =>
    queue.write((connection) => connection.insertInto('click_marks').values({ node, batch: 1 }).execute())
  const pause = Promise.withResolvers<void>()
  await write('a')
  const paused = queue.pause(() => pause.promise)
  const late = write('b')
  for (let i = 0; i < 20; i++) await turn()
  expect(stored()).toBe(1)
  pause.resolve()
  await paused
  await late
  expect(stored()).toBe(2)
})
