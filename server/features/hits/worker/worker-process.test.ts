// The hit worker as a process: it exits when it is idle and starts again for the next hit or question. No hit is lost
// when the worker or its server ends.

import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listWorkerProcesses } from '../../../../tests/support/processes/worker-processes.ts'
import { atScale, full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { ROLL_UP_PACE } from '../rollups/roll-up-loop.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { startWorkerProcess } from './ipc.ts'
import {
  askClicks,
  closeTestWorkers,
  createTestDataDir,
  listFilesWith,
  openTestHitWorker,
  sumCounts,
  type TestHitWorkerOptions,
} from './worker.fixture.ts'

afterEach(closeTestWorkers)

/** Sleeping and waking are the same for a worker in this process. */
async function start(options: TestHitWorkerOptions = {}) {
  const opened = await openTestHitWorker({
    idleMs: 60_000,
    // A worker looks for days to roll up before it sleeps for the first time.
    rollUpPace: { ...ROLL_UP_PACE, retryMs: 1 },
    ...options,
  })
  const clicks = () => askClicks(opened)
  const untilAsleep = () => until('the worker sleeps', () => opened.countRunning() === 0)
  const counted = () => sumCounts(opened.stored)
  return { ...opened, clicks, untilAsleep, counted }
}

/** Or is a zombie: its new parent must collect it, which not every first process of a container does. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === true
  } catch {
    return true
  }
}

describe('a hit worker', () => {
  test('does not run before the first hit or question of a new installation, and no hit is lost', async () => {
    const { spool, hitWorker, counted, clicks, countRunning } = await start()
    expect(countRunning()).toBe(0)
    expect(hitWorker.state()).toMatchObject({ workerUp: true, engineUp: true, restarts: 0 })
    const hit = createRawHit()
    expect(hitWorker.countedUntil()).toBeGreaterThanOrEqual(hit.at)
    spool.append(hit)
    expect(await clicks()).toBeLessThanOrEqual(1)
    await until('they are counted', () => counted() === 1)
    expect(countRunning()).toBe(1)
    await hitWorker.drain()
    expect(await clicks()).toBe(1)
  }, 120_000)

  quick(
    'exits when it is idle, and starts again for a hit and for a question',
    async () => {
      const { spool, hitWorker, counted, clicks, untilAsleep } = await start({ idleMs: 300 })
      const hit = createRawHit()
      spool.append(hit)
      await until('they are counted', () => counted() === 1)
      await untilAsleep()
      expect(hitWorker.state()).toMatchObject({ workerUp: true, engineUp: true, restarts: 0, mark: 1 })
      expect(hitWorker.countedUntil()).toBeGreaterThanOrEqual(hit.at)

      spool.append(createRawHit())
      await until('they are counted', () => counted() === 2)
      await untilAsleep()
      expect(await clicks()).toBe(2)
      await untilAsleep()
      const [first, second] = await Promise.all([clicks(), clicks()])
      expect([first, second, counted()]).toEqual([2, 2, 2])
      expect(hitWorker.state().restarts).toBe(0)
    },
    120_000,
  )

  full(
    'stays during questions and hits, however short the idle time is',
    async () => {
      const { spool, hitWorker, counted, clicks } = await start({ idleMs: 1 })
      for (let sent = 1; sent <= 30; sent++) {
        spool.append(createRawHit())
        if (sent % 3 === 0) await hitWorker.drain()
        if (sent % 5 === 0) expect(await clicks()).toBeLessThanOrEqual(sent)
      }
      await hitWorker.drain()
      expect(await clicks()).toBe(30)
      await until('they are counted', () => counted() === 30)
      expect(hitWorker.state().restarts).toBe(0)
    },
    120_000,
  )

  quick(
    'is started again when it is needed while it exits, and close waits for the new one',
    async () => {
      for (let wait = 0; wait < 20; wait += atScale({ full: 5, soak: 1 })) {
        const { spool, counted, clicks, countRunning, stop } = await start({ idleMs: 1 })
        await clicks()
        // At some moment between these two the worker is told to close.
        for (let turn = 0; turn < wait; turn++) await new Promise(setImmediate)
        await clicks()
        spool.append(createRawHit())
        await stop()
        expect([counted(), countRunning()]).toEqual([1, 0])
      }
    },
    120_000,
  )

  test('that sleeps when its server closes leaves no address behind', async () => {
    const dataDir = createTestDataDir()
    const { spool, counted, untilAsleep, countRunning, stop } = await start({ idleMs: 100, dataDir })
    await untilAsleep()
    spool.append(createRawHit({ address: '203.0.113.77' }))
    await stop()
    expect(counted()).toBe(1)
    expect(countRunning()).toBe(0)
    expect(await listFilesWith(join(dataDir, 'spool'), '203.0.113.77')).toEqual([])
  }, 120_000)

  quick(
    'is replaced after a fault or a kill, while the server goes on recording',
    async () => {
      const { spool, hitWorker, counted, clicks } = await start({ startWorker: startWorkerProcess })
      for (let fault = 0; fault < 2; fault++) {
        await hitWorker.drain()
        spool.append(createRawHit())
        for (const pid of listWorkerProcesses(process.pid)) process.kill(pid, 'SIGKILL')
        expect(spool.append(createRawHit())).toBeGreaterThan(0)
        await until('another worker starts', () => hitWorker.state().restarts === fault + 1)
      }
      await hitWorker.drain()
      expect(await clicks()).toBe(4)
      await until('they are counted', () => counted() === 4)
    },
    120_000,
  )

  test('ends with its server, in whatever way the server ends, and the next worker waits for it', async () => {
    const dataDir = createTestDataDir()
    const code = `
      import { openSpool } from ${JSON.stringify(join(import.meta.dir, '../spool/spool.ts'))}
      import { openHitWorkerClient } from ${JSON.stringify(join(import.meta.dir, 'client.ts'))}
      const dataDir = ${JSON.stringify(dataDir)}
      const spool = await openSpool({ dir: dataDir + '/spool' })
      const hitWorker = openHitWorkerClient({ dataDir, spool, salts: [], ownHosts: [], countedUpTo: 0, storeCounts: async () => {} })
      await hitWorker.drain()
      process.send('up')`
    const up = Promise.withResolvers<void>()
    const server = Bun.spawn([process.execPath, '-e', code], { ipc: () => up.resolve() })
    await up.promise
    const [worker] = listWorkerProcesses(server.pid)
    expect(worker).toBeDefined()
    server.kill('SIGKILL')
    const lock = await lockForWorker(dataDir)
    await until('the worker ends', () => hasEnded(worker as number))
    lock.release()
  }, 120_000)
})
