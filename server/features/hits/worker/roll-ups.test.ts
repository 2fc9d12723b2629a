// The hit worker makes roll-ups before it sleeps, and days that have to wait do not keep it awake for ever.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listWorkerProcesses } from '../../../../tests/support/processes/worker-processes.ts'
import { until } from '../../../../tests/support/until.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { RollUpPace } from '../rollups/roll-up-loop.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openSpool } from '../spool/spool.ts'
import { openHitWorkerClient } from './client.ts'

const PACE: RollUpPace = { pauseMs: 1, retryMs: 5, lookEveryMs: 10, stayMs: 60_000, restMs: 0 }
/** A day is closed some minutes after its end. */
const TODAY = Math.floor((Date.now() - DAY_MS / 24) / DAY_MS) * DAY_MS

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(pace: Partial<RollUpPace> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'towpath-roll-ups-'))
  closing.push(() => rm(dataDir, { recursive: true }))
  const spool = await openSpool({ dir: join(dataDir, 'spool') })
  const hitWorker = openHitWorkerClient({
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: 0,
    storeCounts: async () => {},
    shipEveryMs: 20,
    idleMs: 100,
    rollUpPace: { ...PACE, ...pace },
  })
  closing.push(async () => {
    await hitWorker.close()
    await spool.close()
  })
  return {
    hitWorker,
    /** Records a click, and resolves when the worker has it and sleeps. */
    async clickAndSleep(daysAgo: number) {
      spool.append(createRawHit({ at: TODAY - daysAgo * DAY_MS, workspaceId: 1 }))
      await hitWorker.drain()
      await until('the worker sleeps', () => listWorkerProcesses(process.pid).length === 0)
      return hitWorker.state().rollUps
    },
    ask: () =>
      hitWorker.explain({
        workspaceId: 1,
        start: TODAY - 4 * DAY_MS,
        end: TODAY,
        classes: ['human'],
        filters: [],
        groupBy: { by: 'total' },
      }),
  }
}

describe.if(process.platform === 'linux')('a hit worker', () => {
  test('rolls closed days up before it sleeps, and late hits after they have woken it', async () => {
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
  }, 120_000)

  test('sleeps while days have to wait, and rolls them up when it wakes', async () => {
    const { clickAndSleep, ask, hitWorker } = await start({ restMs: 3_600_000, stayMs: 0 })
    expect(await clickAndSleep(3)).toMatchObject({ waiting: 1, made: 0 })
    // The first look of a new worker knows of no hit that came just now.
    await ask()
    await until('the day is rolled up', () => hitWorker.state().rollUps.waiting === 0)
    expect(hitWorker.state().rollUps.made).toBeGreaterThan(0)
  }, 120_000)
})
