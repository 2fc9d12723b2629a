import { expect, test } from 'bun:test'
import { createBatcher } from './batcher.ts'
import { nextTurn } from './next-turn.ts'

test('serves the calls of one turn in one batch, and those that come meanwhile in the next one', async () => {
  const batches: number[][] = []
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const double = createBatcher(
    async (items: number[]) => {
      batches.push(items)
      if (batches.length === 1) await gate
      return items.map((item) => 2 * item)
    },
    { max: 3 },
  )
  const first = [double(1), double(2), double(1)]
  while (batches.length === 0) await nextTurn()
  const others = [double(3), double(4), double(5), double(6)]
  open()
  expect(await Promise.all([...first, ...others])).toEqual([2, 4, 2, 6, 8, 10, 12])
  expect(batches).toEqual([[1, 2, 1], [3, 4, 5], [6]])
})

test('serves each key apart', async () => {
  const batches: string[][] = []
  const ask = createBatcher(
    async (items: string[]) => {
      batches.push(items)
      return items
    },
    { toKey: (item) => item[0] },
  )
  await Promise.all([ask('a1'), ask('b1'), ask('a2')])
  expect(batches.toSorted()).toEqual([['a1', 'a2'], ['b1']])
})

test('a failure reaches the callers of its batch only', async () => {
  let broken = true
  const ask = createBatcher(async (items: string[]) => {
    if (broken) throw new Error('away')
    return items
  })
  const both = await Promise.allSettled([ask('a'), ask('b')])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  broken = false
  expect(await ask('a')).toBe('a')
})
