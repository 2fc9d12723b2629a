import { expect, test } from 'bun:test'
import { createFairQueue } from './fair-queue.ts'

function start(places: number, placesOfGroup?: number) {
  const queue = createFairQueue<string>(places, placesOfGroup)
  const started: string[] = []
  const ends: (() => void)[] = []
  return {
    started,
    add(group: string, name: string, error?: Error) {
      const end = Promise.withResolvers<void>()
      ends.push(end.resolve)
      return queue.run(group, async () => {
        started.push(name)
        await end.promise
        if (error) throw error
        return name
      })
    },
    end: (index: number) => ends[index]?.(),
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('runs as many works as there are places, and lets the groups take turns', async () => {
  const { add, end, started } = start(2)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) add('a', name)
  for (const name of ['b1', 'b2']) add('b', name)
  add('c', 'c1')
  for (let index = 0; index < 8; index++) {
    await settle()
    expect(started).toHaveLength(Math.min(8, index + 2))
    // Works end in the order in which they started.
    const name = started[index] as string
    end(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].indexOf(name))
  }
  await settle()
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
})

test('a work that fails rejects for its caller, and frees its place', async () => {
  const { add, end } = start(1)
  const first = add('a', 'a1', new Error('no'))
  const second = add('a', 'a2')
  end(0)
  end(1)
  await expect(first).rejects.toThrow('no')
  expect(await second).toBe('a2')
})

test('leaves places to other groups when a group has all that it may have', async () => {
  const { add, end, started } = start(3, 2)
  for (const name of ['a1', 'a2', 'a3', 'a4']) add('a', name)
  await settle()
  expect(started).toEqual(['a1', 'a2'])
  for (const name of ['b1', 'b2']) add('b', name)
  await settle()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  end(0)
  await settle()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  end(1)
  await settle()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
  for (const index of [2, 3, 4, 5]) end(index)
  await settle()
  expect(started).toHaveLength(6)
})
