// Who shares a commit with whom, and what others feel of it.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openGroupCommit } from './group-commit.ts'

/** Commits so far, and the queue in front of them. */
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

test('writes that come one turn after the other share a commit', async () => {
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

test('a write alone does not wait for others', async () => {
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

test('the event loop goes on between the writes of a commit, and who comes then is part of it', async () => {
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
    // The first two turns are before the commit.
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
