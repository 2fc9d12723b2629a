import { expect, test } from 'bun:test'
import { createRecentChanges } from './recent-changes.ts'
import { createSharedReads } from './shared-reads.ts'

const started = () => {
  const recent = createRecentChanges()
  const reads = createSharedReads<string>(recent)
  const open: { resolve: (value: string) => void; reject: (error: Error) => void; version: number }[] = []
  const join = (key: string) =>
    reads.join(key, (version) => new Promise((resolve, reject) => open.push({ resolve, reject, version })))
  return { recent, reads, open, join }
}

test('a hundred concurrent reads of a key are one, and the next one is another', async () => {
  const { open, join } = started()
  const answers = Array.from({ length: 100 }, () => join('a'))
  expect(open).toHaveLength(1)
  open[0]?.resolve('first')
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['first']))
  const next = join('a')
  open[1]?.resolve('second')
  expect(await next).toBe('second')
})

test('a read that began before a change of its key is not joined; those of other keys are', async () => {
  const { recent, open, join } = started()
  const before = [join('a'), join('b')]
  recent.add('a')
  const after = [join('a'), join('a'), join('b')]
  expect(open).toHaveLength(3)
  open[2]?.resolve('new')
  open[0]?.resolve('old')
  open[1]?.resolve('b')
  expect(await Promise.all([...before, ...after])).toEqual(['old', 'b', 'new', 'new', 'b'])
})

test('the end of an overtaken read leaves the newer one to be joined', async () => {
  const { recent, open, join } = started()
  const old = join('a')
  recent.add('a')
  const newer = join('a')
  open[0]?.resolve('old')
  await old
  const joined = join('a')
  expect(open).toHaveLength(2)
  open[1]?.resolve('new')
  expect(await Promise.all([newer, joined])).toEqual(['new', 'new'])
})

test('a failure reaches all who joined, and is not kept', async () => {
  const { open, join } = started()
  const answers = [join('a'), join('a')].map((answer) => answer.catch((error: Error) => error.message))
  open[0]?.reject(new Error('down'))
  expect(await Promise.all(answers)).toEqual(['down', 'down'])
  const next = join('a')
  open[1]?.resolve('up')
  expect(await next).toBe('up')
})
