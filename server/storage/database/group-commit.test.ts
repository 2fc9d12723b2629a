// Which writes share a commit, and what the event loop does meanwhile.

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
