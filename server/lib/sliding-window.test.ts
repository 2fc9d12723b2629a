import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSlidingWindows, WINDOW_MS } from './sliding-window.ts'

function windows(options: { keysMax?: number } = {}) {
  let now = 1_000
  const limiter = createSlidingWindows({ ...options, clock: () => now })
  return {
    at(ms: number) {
      now = 1_000 + ms
      return this
    },
    take: (limit: number, key = 'a') => limiter.take(key, limit),
    allowed: (limit: number, times: number, key = 'a') =>
      Array.from({ length: times }, () => limiter.take(key, limit)).filter(({ allowed }) => allowed).length,
  }
}

describe('at most N in any 60 seconds', () => {
  test.each([1, 2, 30, 60, 120, 300])('allows the first %d of a burst', (limit) => {
    expect(windows().allowed(limit, limit + 50)).toBe(limit)
  })

  test('the window ends at 60 s, not at 59.999 s', () => {
    const window = windows()
    expect(window.allowed(3, 5)).toBe(3)
    expect(window.at(59_999).take(3)).toMatchObject({ allowed: false, remaining: 0, waitMs: 1 })
    expect(window.at(60_000).take(3)).toMatchObject({ allowed: true, remaining: 2 })
  })

  test('slides: half at 0 s and half at 40 s allow half at 60 s, and the rest at 100 s', () => {
    const window = windows()
    expect(window.allowed(10, 5)).toBe(5)
    expect(window.at(40_000).allowed(10, 8)).toBe(5)
    expect(window.at(60_000).allowed(10, 8)).toBe(5)
    expect(window.at(99_999).allowed(10, 8)).toBe(0)
    expect(window.at(100_000).allowed(10, 8)).toBe(5)
  })

  test('for any arrivals, no 60 s hold more than N, and no call is refused below N', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 120 }),
        (limit, gaps) => {
          const window = windows()
          const passed: number[] = []
          let now = 0
          for (const gap of gaps) {
            now += gap
            const before = passed.filter((time) => time > now - WINDOW_MS).length
            const { allowed, remaining, waitMs, resetMs } = window.at(now).take(limit)
            expect(allowed).toBe(before < limit)
            if (allowed) passed.push(now)
            const inside = passed.filter((time) => time > now - WINDOW_MS)
            expect(inside.length).toBeLessThanOrEqual(limit)
            expect(remaining).toBe(limit - inside.length)
            expect(resetMs).toBe((inside[0] ?? now) + WINDOW_MS - now)
            expect(waitMs).toBe(inside.length < limit ? 0 : resetMs)
          }
        },
      ),
    )
  })
})

test('a refused caller is allowed exactly after the wait, whatever it sends before', () => {
  const window = windows()
  window.allowed(2, 2)
  for (let ms = 0; ms < 60_000; ms += 1_000) expect(window.at(ms).take(2).waitMs).toBe(60_000 - ms)
  expect(window.at(60_000).take(2).allowed).toBe(true)
})

test('a lowered limit holds at once, until enough times have left the window', () => {
  const window = windows()
  window.allowed(5, 3)
  window.at(10_000).allowed(5, 2)
  expect(window.at(20_000).take(2)).toMatchObject({
    allowed: false,
    remaining: 0,
    waitMs: 50_000,
    resetMs: 40_000,
  })
  expect(window.at(69_999).take(2).allowed).toBe(false)
  expect(window.at(70_000).take(2).allowed).toBe(true)
})

test('keys count separately', () => {
  const window = windows()
  expect(window.allowed(3, 5, 'a')).toBe(3)
  expect(window.allowed(3, 5, 'b')).toBe(3)
})

test('bounds the number of keys: the least recently used key goes', () => {
  const window = windows({ keysMax: 3 })
  for (const key of ['a', 'b', 'c']) window.take(1, key)
  window.take(1, 'a')
  window.take(1, 'd')
  expect(window.take(1, 'a').allowed).toBe(false)
  expect(window.take(1, 'b').allowed).toBe(true)
})

test('a refund takes back the newest one, and never more than there are', () => {
  let now = 0
  const limiter = createSlidingWindows({ windowMs: 900_000, clock: () => now })
  const take = () => limiter.take('a', 2).allowed
  expect([take(), take(), take()]).toEqual([true, true, false])
  limiter.refund('a')
  expect([take(), take()]).toEqual([true, false])
  now = 899_999
  expect(take()).toBe(false)
  now = 900_000
  for (let i = 0; i < 5; i++) limiter.refund('a')
  limiter.refund('b')
  expect([take(), take(), take()]).toEqual([true, true, false])
})

test('long keys are told apart, and each has its own limit', () => {
  const window = windows()
  const long = 'k'.repeat(100_000)
  for (const key of [`${long}1`, `${long}2`]) {
    expect(window.allowed(2, 5, key)).toBe(2)
    expect(window.take(2, key).allowed).toBe(false)
  }
})
