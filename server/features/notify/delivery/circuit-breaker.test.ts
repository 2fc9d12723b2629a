import { expect, test } from 'bun:test'
import { createCircuitBreaker } from './circuit-breaker.ts'

const fail = (breaker: ReturnType<typeof createCircuitBreaker>, times: number, at: number) => {
  for (let i = 0; i < times; i++) breaker.recordFailure(7, at)
}

test('pauses a channel after the fifth failure in a row', () => {
  const breaker = createCircuitBreaker()
  fail(breaker, 4, 1000)
  expect(breaker.listPaused(1000)).toEqual([])
  fail(breaker, 1, 1000)
  expect(breaker.listPaused(5999)).toEqual([7])
  expect(breaker.listPaused(6000)).toEqual([])
})

test('doubles the pause with each further failure, up to five minutes', () => {
  const breaker = createCircuitBreaker()
  fail(breaker, 4, 0)
  const rests = Array.from({ length: 9 }, () => {
    fail(breaker, 1, 0)
    let seconds = 0
    while (breaker.listPaused(seconds * 1000).length > 0) seconds++
    return seconds
  })
  expect(rests).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
})

test('a reset clears the failures of its channel only', () => {
  const breaker = createCircuitBreaker()
  fail(breaker, 9, 0)
  breaker.recordFailure(8, 0)
  breaker.reset(7)
  fail(breaker, 4, 0)
  expect(breaker.listPaused(1)).toEqual([])
})

test('drops a channel a day after its pause', () => {
  const breaker = createCircuitBreaker()
  fail(breaker, 5, 0)
  breaker.listPaused(2 * 24 * 60 * 60_000)
  expect(breaker.listPaused(1)).toEqual([])
})

test('a clock that is set back ends no pause late', () => {
  const breaker = createCircuitBreaker()
  const hour = 60 * 60_000
  fail(breaker, 5, hour)
  expect(breaker.listPaused(hour)).toEqual([7])
  expect(breaker.listPaused(0)).toEqual([])
})
