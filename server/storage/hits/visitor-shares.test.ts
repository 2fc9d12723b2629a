import { expect, test } from 'bun:test'
import { createHitQuery } from '../../../tests/contracts/hit-engine.ts'
import { until } from '../../../tests/support/until.ts'
import { createFairQueue } from '../../lib/concurrency/fair-queue.ts'
import type { HitQuery } from './hit-engine.ts'
import { createShareCounter, type VisitorShare } from './visitor-shares.ts'

const OUT_OF_MEMORY = new Error('out of memory')
const SMALL = createHitQuery({ groupBy: { by: 'total' } })
const LARGE = createHitQuery({ groupBy: { by: 'utmTerm', limit: 10, nullAs: '' } })

/**
 * An engine whose memory has 128 places. The large question needs `places`, or a share of them. The small question holds all
 * memory until `release`.
 */
function createEngine(places: number) {
  const held = Promise.withResolvers<void>()
  const attempts: number[] = []
  let isHeld = false
  const counter = createShareCounter({
    async ask(query: HitQuery, { of, number }: VisitorShare = { of: 1, number: 0 }) {
      if (query === SMALL) {
        isHeld = true
        await held.promise
        isHeld = false
        return [{ key: null, clicks: 1, visitors: 1 }]
      }
      if (number === 0) attempts.push(of)
      if (isHeld || places / of > 128) throw OUT_OF_MEMORY
      return [{ key: `term ${number % 2}`, clicks: 1, visitors: 1 }]
    },
    isOutOfMemory: (error) => error === OUT_OF_MEMORY,
    largeQuestions: createFairQueue<number>(1),
  })
  return { ask: counter, attempts, release: held.resolve }
}

test.each([
  ['fits is asked once', 100, [1]],
  ['takes as few shares as fit', 1_024, [1, 1, 8]],
  ['takes more shares when these do not fit', 10_000, [1, 1, 8, 32, 128]],
  ['fails when the most shares do not fit', 20_000, [1, 1, 8, 32, 128]],
])('a question that %s', async (name, places, attempts) => {
  const engine = createEngine(places)
  const answer = await engine.ask(LARGE).catch((error) => error)
  expect(engine.attempts).toEqual(attempts)
  if (name.startsWith('fails')) return expect(answer).toBe(OUT_OF_MEMORY)
  const shares = engine.attempts.at(-1) as number
  const half = shares === 1 ? 1 : shares / 2
  expect(answer).toContainEqual({ key: 'term 0', clicks: half, visitors: half })
})

test('a large question is answered when the questions that hold the memory have ended', async () => {
  const engine = createEngine(1_024)
  const small = engine.ask(SMALL)
  const large = engine.ask(LARGE)
  await until('an attempt beside the small question', () => engine.attempts.length >= 2)
  engine.release()
  expect(await small).toEqual([{ key: null, clicks: 1, visitors: 1 }])
  expect(await large).toHaveLength(2)
  // Alone, it does not fit either.
  expect(engine.attempts).toEqual([1, 1, 1, 8])
})

test('an error of another kind is not repeated', async () => {
  let calls = 0
  const broken = new Error('no such column')
  const ask = createShareCounter({
    ask: () => Promise.reject(++calls && broken),
    isOutOfMemory: () => false,
    largeQuestions: createFairQueue(1),
  })
  await expect(ask(LARGE)).rejects.toBe(broken)
  expect(calls).toBe(1)
})
