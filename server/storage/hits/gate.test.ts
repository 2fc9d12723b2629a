import { expect, test } from 'bun:test'
import { openGate } from './gate.ts'

/** Work that ends when it is told to. */
function job() {
  const done = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const work = () => {
    began.resolve()
    return done.promise
  }
  return { work, began: began.promise, end: done.resolve }
}

test('questions pass together; who wants to be alone waits for them, and they for it', async () => {
  const gate = openGate(1)
  const log: string[] = []
  const [one, two, commit] = [job(), job(), job()]
  const passing = [one, two].map((each) => gate.through(each.work))
  await Promise.all([one.began, two.began])
  const alone = gate.alone(() => {
    log.push('alone')
    return commit.work()
  })
  one.end()
  await passing[0]
  expect(log).toEqual([])
  two.end()
  await commit.began
  const late = gate.through(async () => log.push('late'))
  commit.end()
  await Promise.all([alone, late, ...passing])
  expect(log).toEqual(['alone', 'late'])
})

test('a failure opens it again, and a crowd of questions does not keep it from its turn', async () => {
  const gate = openGate(10)
  await expect(gate.alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(gate.through(() => Promise.reject(new Error('not this')))).rejects.toThrow('not this')
  let over = false
  const crowd = Array.from({ length: 5 }, async () => {
    while (!over) await gate.through(() => new Promise((resolve) => setImmediate(resolve)))
  })
  await gate.alone(async () => {
    over = true
  })
  await Promise.all(crowd)
  expect(over).toBe(true)
})
