import { expect, test } from 'bun:test'
import { BASE_CONCURRENCY, CONCURRENCY_MAX, createChannelConcurrency } from './channel-concurrency.ts'

function setUp(type = 'webhook') {
  let now = 1_000_000
  const concurrency = createChannelConcurrency(() => now)
  const channel = { id: 1, type }
  return {
    limit: () => concurrency.getLimit(channel),
    pass(ms: number) {
      now += ms
    },
    /** Records `times` answers. The attempts that ran at once are those of the limit, unless `running` is fewer. */
    answer(tookMs: number, { delivered = true, times = 1, running = 100 } = {}) {
      const startedAt = now
      now += tookMs
      for (let i = 0; i < times; i++) {
        concurrency.noteRunning(channel, running)
        concurrency.record(channel, { delivered, startedAt, tookMs })
      }
    },
  }
}

const grown = (type?: string) => {
  const channel = setUp(type)
  channel.answer(1, { times: 1_000 })
  return channel
}

test('a receiver that answers at once gets one more with each round, up to the most of its type', () => {
  const channel = setUp()
  for (let limit = BASE_CONCURRENCY; limit < CONCURRENCY_MAX.webhook; limit++) {
    expect(channel.limit()).toBe(limit)
    channel.answer(20, { times: limit })
  }
  channel.answer(20, { times: 100 })
  expect(channel.limit()).toBe(16)
})

test.each(['slack', 'discord', 'telegram', 'teams'])('%s never gets more than two', (type) => {
  expect(grown(type).limit()).toBe(2)
})

test('email gets at most four', () => {
  expect(grown('email').limit()).toBe(4)
})

test('nothing grows that was not tried: fewer attempts ran than were allowed', () => {
  const channel = setUp()
  channel.answer(1, { times: 100, running: 1 })
  expect(channel.limit()).toBe(2)
})

test('a receiver that takes more than half a second gets no more', () => {
  const channel = setUp()
  channel.answer(600, { times: 100 })
  expect(channel.limit()).toBe(2)
})

test('slow answers and failures halve it, once for all attempts that were on their way together', () => {
  const channel = grown()
  channel.answer(2_000, { times: 16 })
  expect(channel.limit()).toBe(8)
  channel.answer(10, { delivered: false, times: 16 })
  expect(channel.limit()).toBe(4)
  for (let i = 0; i < 5; i++) channel.answer(10, { delivered: false })
  expect(channel.limit()).toBe(BASE_CONCURRENCY)
})

test('a minute without attempts begins anew', () => {
  const channel = grown()
  channel.pass(61_000)
  expect(channel.limit()).toBe(BASE_CONCURRENCY)
})
