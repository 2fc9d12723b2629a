// The reported origin of days when roll-ups could not be read. damage.test.ts has real damage.

import { expect, test } from 'bun:test'
import type { DuckDBConnection } from '@duckdb/node-api'
import { createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import { setLogLevel } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { createExplainer } from './ask.ts'

setLogLevel('silent')

const DAY = Date.UTC(2026, 4, 3)
const query = createHitQuery({ start: DAY - 9 * DAY_MS, end: DAY + DAY_MS })

const connection = (error: Error) =>
  ({ run: async () => undefined, runAndReadAll: () => Promise.reject(error) }) as unknown as DuckDBConnection

/**
 * @param error what each reading of roll-ups meets
 * @param knowsHitDays whether the days with hits are known without reading
 */
const create = (error: Error, knowsHitDays = true) =>
  createExplainer({
    readers: { use: (_, work) => work(connection(error)) },
    askHits: async () => [{ key: null, clicks: 7, visitors: 5 }],
    hitDays: async (read) => {
      await read(async () => (knowsHitDays ? { start: 0, end: 0 } : Promise.reject(error)))
      return { start: DAY / DAY_MS, end: DAY / DAY_MS + 1 }
    },
    countDrops: () => 0,
    onDamage() {},
  })

const listReasons = async (explain: ReturnType<typeof create>) => {
  const { answers, origin } = await explain(query)
  expect(answers).toEqual([{ key: null, clicks: 7, visitors: 5 }])
  return origin.map(({ why }) => why)
}

test('damaged roll-ups cannot be read, and are not days that wait', async () => {
  const explain = create(new Error('IO Error: Corrupt database file'))
  expect(await listReasons(explain)).toEqual(['no_hits', 'unavailable'])
  // Nobody reads them again for a while.
  expect(await listReasons(explain)).toEqual(['no_hits', 'unavailable'])
})

test('sums that do not fit into memory are a reason of their own', async () => {
  expect(await listReasons(create(new Error('out of memory')))).toEqual(['no_hits', 'memory'])
})

test('a question is answered when the days with hits do not fit into memory beside other questions', async () => {
  expect(await listReasons(create(new Error('out of memory'), false))).toEqual(['memory'])
})
