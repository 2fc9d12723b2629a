import { expect, test } from 'bun:test'
import { createReadWriteLock } from './read-write-lock.ts'

/** Work that ends when the test says so. */
function job() {
  const done = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const work = () => {
    began.resolve()
    return done.promise
  }
  return { work, began: began.promise, end: done.resolve }
}

test('shared work runs together; exclusive work waits for shared work, and shared work for it', async () => {
  const gate = createReadWriteLock(1)
  const log: string[] = []
  const [one, two, commit] = [job(), job(), job()]
  const passing = [one, two].map((each) => gate.shared(each.work))
  await Promise.all([one.began, two.began])
  const alone = gate.exclusive(() => {
    log.push('alone')
    return commit.work()
  })
  one.end()
  await passing[0]
  expect(log).toEqual([])
  two.end()
  await commit.began
  const late = gate.shared(async () => log.push('late'))
  commit.end()
  await Promise.all([alone, late, ...passing])
  expect(log).toEqual(['alone', 'late'])
})

test('a failure unlocks it, and steady shared work does not keep exclusive work waiting forever', async () => {
  const gate = createReadWriteLock(10)
  await expect(gate.exclusive(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(gate.shared(() => Promise.reject(new Error('not this')))).rejects.toThrow('not this')
  let over = false
  const crowd = Array.from({ length: 5 }, async () => {
    while (!over) await gate.shared(() => new Promise((resolve) => setImmediate(resolve)))
  })
  await gate.exclusive(async () => {
    over = true
  })
  await Promise.all(crowd)
  expect(over).toBe(true)
})
