import { expect, test } from 'bun:test'
import { createRawHit } from './raw-hit.fixture.ts'
import type { RawHit } from './raw-hit.ts'
import type { Spool } from './spool.ts'
import { createSpoolGuard } from './spool-guard.ts'

function open() {
  const stored: RawHit[] = []
  const state = { low: false, now: 0 }
  const spool = { append: (raw: RawHit) => stored.push(raw) } as Partial<Spool> as Spool
  const guard = createSpoolGuard({ spool, disk: { isLow: () => state.low }, clock: () => state.now })
  return { stored, state, guard }
}

const long = (change: Partial<RawHit> = {}) =>
  createRawHit({
    query: `utm_source=${'s'.repeat(256)}`,
    referrer: `https://x.example/${'p'.repeat(400)}`,
    ...change,
  })
/** More than an address may send in a minute. */
const MANY = 3000

test('stores every hit as it is while there is room, and usual texts have no limit', () => {
  const { stored, guard } = open()
  const hit = createRawHit({
    query: 'utm_source=mail&utm_campaign=spring',
    referrer: 'https://www.example.com/',
  })
  for (let n = 0; n < MANY; n++) expect(guard.append(hit)).toBe(n + 1)
  expect(stored.every((each) => each === hit)).toBe(true)
  expect(guard.guardStats()).toEqual({ leftOut: 0, shortened: 0 })
})

test('keeps long texts of an address up to a budget, and every hit', () => {
  const { stored, state, guard } = open()
  for (let n = 0; n < MANY; n++) expect(guard.append(long())).toBeGreaterThan(0)
  const kept = stored.reduce((sum, { query, referrer }) => sum + query.length + referrer.length, 0)
  expect(stored).toHaveLength(MANY)
  expect(kept).toBeWithin(1_000_000, 1024 * 1024 + 1)
  const { shortened } = guard.guardStats()
  expect(shortened).toBe(stored.filter(({ query }) => query === '').length)
  expect(stored.at(-1)).toEqual({ ...long({ at: stored.at(-1)?.at }), query: '', referrer: '' })
  // Others are not concerned, nor is the address a minute later. All of a /64 is one address.
  guard.append(long({ address: '198.51.100.9' }))
  expect(stored.at(-1)?.query).not.toBe('')
  state.now = 70_000
  guard.append(long())
  expect(stored.at(-1)?.query).not.toBe('')
  for (let n = 0; n < MANY; n++) guard.append(long({ address: `2001:db8::${n.toString(16)}` }))
  expect(stored.at(-1)?.query).toBe('')
})

test('stores one hit in ten while the disk is low', () => {
  const { stored, state, guard } = open()
  state.low = true
  const ids = Array.from({ length: 1000 }, () => guard.append(createRawHit()))
  expect(stored).toHaveLength(100)
  expect(ids.filter((id) => id === 0)).toHaveLength(900)
  expect(guard.guardStats()).toEqual({ leftOut: 900, shortened: 0 })
  state.low = false
  for (let n = 0; n < 10; n++) guard.append(createRawHit())
  expect(stored).toHaveLength(110)
})
