import { afterEach, describe, expect, test } from 'bun:test'
import { createReceivingSlots, type ReceivingSlots, type StopReason } from './receiving-slots.ts'

const KIB = 1024
let nowMs = 0
let slots: ReceivingSlots | undefined
afterEach(() => slots?.close())

function open(slotsMax?: number) {
  nowMs = 0
  slots = createReceivingSlots({ clock: () => nowMs, slotsMax })
  const stops: [string, StopReason][] = []
  const take = (address: string, name = address) =>
    slots?.take(address, (reason) => stops.push([name, reason]))
  return { slots, take, stops }
}

describe('places for uploads', () => {
  test('an address has twenty, and gets one back for each that it gives', () => {
    const { take } = open()
    const taken = Array.from({ length: 20 }, () => take('a'))
    expect(taken.every(Boolean)).toBe(true)
    expect(take('a')).toBeUndefined()
    expect(take('b')).toBeDefined()
    taken[0]?.release()
    expect(take('a')).toBeDefined()
  })

  test('a newcomer gets no place while all others send fast', () => {
    const { take, stops } = open(2)
    const fast = [take('a'), take('b')]
    for (const slot of fast) slot?.waits()
    nowMs += 60_000
    for (const slot of fast) slot?.received(60 * 100 * KIB)
    expect(take('c')).toBeUndefined()
    expect(stops).toEqual([])
  })

  test('a newcomer gets the place of the slowest, once that one has had half a minute', () => {
    const { take, stops } = open(2)
    const [slow, slower] = [take('slow'), take('slower')]
    slow?.waits()
    slower?.waits()
    nowMs += 20_000
    expect(take('too early')).toBeUndefined()
    nowMs += 20_000
    slow?.received(40 * 20 * KIB)
    slower?.received(40 * 10 * KIB)
    expect(take('new')).toBeDefined()
    expect(stops).toEqual([['slower', 'replaced']])
  })

  test('an upload that waited for the disk is not slow', () => {
    const { take, stops } = open(1)
    const slot = take('a')
    slot?.waits()
    nowMs += 1_000
    slot?.received(100 * KIB)
    nowMs += 600_000
    expect(take('b')).toBeUndefined()
    expect(stops).toEqual([])
  })
})

test('an upload that hardly moves is ended, whether others wait or not', () => {
  const { take, stops } = open()
  const [drip, slow] = [take('drip'), take('slow')]
  drip?.waits()
  slow?.waits()
  nowMs += 31_000
  drip?.received(31 * KIB)
  slow?.received(31 * 5 * KIB)
  take('any other')
  expect(stops).toEqual([['drip', 'too slow']])
})
