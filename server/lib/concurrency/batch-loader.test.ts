import { expect, test } from 'bun:test'
import { createBatchLoader } from './batch-loader.ts'

test('loads the keys of one turn in one batch, and gives each caller its value', async () => {
  const asked: number[][] = []
  const double = createBatchLoader(async (keys: number[]) => {
    asked.push(keys)
    return new Map(keys.filter((key) => key !== 3).map((key) => [key, 2 * key]))
  })
  expect(await Promise.all([double(1), double(2), double(1), double(3)])).toEqual([2, 4, 2, undefined])
  expect(await double(1)).toBe(2)
  expect(asked).toEqual([[1, 2, 3], [1]])
})

test('a failure reaches the callers of its batch only', async () => {
  let broken = true
  const ask = createBatchLoader(async (keys: string[]) => {
    if (broken) throw new Error('away')
    return new Map(keys.map((key) => [key, key]))
  })
  const both = await Promise.allSettled([ask('a'), ask('b')])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  broken = false
  expect(await ask('a')).toBe('a')
})
