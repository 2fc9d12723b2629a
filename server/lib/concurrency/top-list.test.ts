import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createTopList } from './top-list.ts'

test('a top list has what sorting all items would put first', async () => {
  const items = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 12 }), async (all, max) => {
      const top = createTopList<number>(max, (a, b) => b - a)
      for (const item of all) await top.add(item)
      expect(top.list()).toEqual(all.toSorted((a, b) => b - a).slice(0, max))
    }),
  )
})
