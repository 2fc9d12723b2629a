// The hit worker makes roll-ups before it sleeps, and days that have to wait do not keep it awake for ever.

import { afterEach, describe, expect } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toHitFilePath } from '../../../storage/hits/duckdb/hit-file.ts'
import type { RollUpPace } from '../rollups/roll-up-loop.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { closeTestWorkers, openTestHitWorker, toTotalQuery } from './worker.fixture.ts'

const PACE: RollUpPace = { pauseMs: 1, retryMs: 5, lookEveryMs: 10, stayMs: 60_000, restMs: 0 }
/** A day is closed some minutes after its end. */
const TODAY = Math.floor((Date.now() - DAY_MS / 24) / DAY_MS) * DAY_MS

afterEach(closeTestWorkers)

/** From now on, no roll-up of this day can be stored. */
async function failDay(dataDir: string, day: number) {
  const instance = await DuckDBInstance.create(toHitFilePath(dataDir))
  const connection = await instance.connect()
  const [[columns] = []] = (
    await connection.runAndReadAll(
      "SELECT string_agg(column_name || ' ' || data_type || ' NOT NULL', ', ' ORDER BY column_index) FROM duckdb_columns() WHERE table_name = 'roll_links'",
    )
  ).getRows()
  await connection.run('DROP TABLE roll_links')
  await connection.run(`CREATE TABLE roll_links (${columns}, CHECK (day <> ${day}))`)
  await connection.run('CHECKPOINT')
  connection.closeSync()
  instance.closeSync()
}

async function start(pace: Partial<RollUpPace> = {}) {
  const worker = await openTestHitWorker({ idleMs: 100, rollUpPace: { ...PACE, ...pace } })
  const { hitWorker, spool, dataDir, countRunning } = worker
  async function sleep() {
    await until('the worker sleeps', () => countRunning() === 0)
    return hitWorker.state().rollUps
  }
  const ask = () => hitWorker.explain(toTotalQuery(1, { start: TODAY - 4 * DAY_MS, end: TODAY }))
  return {
    hitWorker,
    dataDir,
    sleep,
    ask,
    /** Wakes the worker, and once more where a busy machine has not let it begin before it was to sleep again. */
    rollUp: (made: number) =>
      until('the days are rolled up', async () => {
        if (countRunning() === 0) await ask()
        return hitWorker.state().rollUps.made === made
      }),
    /** Records clicks, and resolves when the worker has them and sleeps. */
    async clickAndSleep(...daysAgo: number[]) {
      for (const days of daysAgo) spool.append(createRawHit({ at: TODAY - days * DAY_MS, workspaceId: 1 }))
      await hitWorker.drain()
      return sleep()
    },
  }
}

describe('a hit worker', () => {
  quick('rolls closed days up before it sleeps, and late hits after they have woken it', async () => {
    const { clickAndSleep, ask, hitWorker } = await start()
    const first = await clickAndSleep(4)
    expect(first).toMatchObject({ waiting: 0, failures: 0 })
    expect(first.made).toBeGreaterThan(0)
    const second = await clickAndSleep(1)
    expect(second).toMatchObject({ waiting: 0, failures: 0 })
    expect(second.made).toBeGreaterThan(first.made)
    const late = await clickAndSleep(4)
    expect(late.made).toBeGreaterThan(second.made)
    expect((await ask()).origin).toEqual([{ start: TODAY - 4 * DAY_MS, end: TODAY, from: 'days' }])
    expect(hitWorker.state().origins).toMatchObject({ fromRollUps: 1, rolledUpDays: 4, hitDays: 0 })
  })

  quick('sleeps while days have to wait, and rolls them up when it wakes', async () => {
    const { clickAndSleep, ask, hitWorker } = await start({ restMs: 3_600_000, stayMs: 0 })
    expect(await clickAndSleep(3)).toMatchObject({ waiting: 1, made: 0 })
    // The first look of a new worker knows of no hit that came just now.
    await ask()
    await until('the day is rolled up', () => hitWorker.state().rollUps.waiting === 0)
    expect(hitWorker.state().rollUps.made).toBeGreaterThan(0)
  })

  full(
    'that finds the oldest day failing rolls up all others before it sleeps, and says that one waits',
    async () => {
      // As on a quiet server, it looks less often than it would fall asleep.
      const pace = { restMs: 3_600_000, lookEveryMs: 500, stayMs: 2000 }
      const { clickAndSleep, sleep, rollUp, dataDir } = await start(pace)
      expect(await clickAndSleep(4, 3, 2)).toMatchObject({ made: 0, failures: 0 })
      await failDay(dataDir, TODAY / DAY_MS - 4)
      await rollUp(2)
      expect(await sleep()).toEqual({ waiting: 1, made: 2, failures: 1 })
      // The next worker knows of the failure, too.
      await clickAndSleep(1)
      await rollUp(3)
      expect(await sleep()).toEqual({ waiting: 1, made: 3, failures: 1 })
    },
  )
})
