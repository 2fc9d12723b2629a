// The ship worker as a process: it exits when it is idle and starts again for the next hit or question. No hit is lost
// when the worker or its server ends.

import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listWorkerProcesses } from '../../../../tests/support/processes/worker-processes.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { ROLL_UP_PACE } from '../rollups/roll-up-loop.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openSpool } from '../spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from './client.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function newDataDir() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-ship-process-'))
  closing.push(() => rm(dir, { recursive: true }))
  return dir
}

async function start({ idleMs = 60_000, dataDir }: { idleMs?: number; dataDir?: string } = {}) {
  const home = dataDir ?? (await newDataDir())
  const spool = await openSpool({ dir: join(home, 'spool') })
  let counted = 0
  const hitWorker = openHitWorkerClient({
    dataDir: home,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: 0,
    async storeCounts({ counts }) {
      for (const [, clicks] of counts) counted += clicks
    },
    shipEveryMs: 20,
    idleMs,
    // A worker looks for days to roll up before it sleeps for the first time.
    rollUpPace: { ...ROLL_UP_PACE, retryMs: 1 },
  })
  const stop = async () => {
    await hitWorker.close()
    await spool.close()
  }
  closing.push(stop)
  return { spool, hitWorker, counted: () => counted, stop }
}

async function until(met: () => boolean | Promise<boolean>) {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(10)) if (await met()) return
  throw new Error('did not happen within 60 s')
}

const total = { by: 'total' } as const
const clicks = async (hitWorker: HitWorkerClient) => {
  const everything = { start: 0, end: Date.now() + 1e6, classes: ['human' as const], filters: [] }
  return (await hitWorker.ask({ workspaceId: 1, ...everything, groupBy: total }))[0]?.clicks ?? 0
}

const workers = () => listWorkerProcesses(process.pid)

/** Or is a zombie: its new parent must collect it, which not every first process of a container does. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === true
  } catch {
    return true
  }
}

describe.if(process.platform === 'linux')('a ship worker', () => {
  test('does not run before the first hit or question of a new installation, and no hit is lost', async () => {
    const { spool, hitWorker, counted } = await start()
    expect(workers()).toEqual([])
    expect(hitWorker.state()).toMatchObject({ workerUp: true, engineUp: true, restarts: 0 })
    const before = Date.now()
    expect(hitWorker.countedUntil()).toBeGreaterThanOrEqual(before)
    spool.append(createRawHit())
    expect(await clicks(hitWorker)).toBeLessThanOrEqual(1)
    await until(() => counted() === 1)
    expect(workers()).toHaveLength(1)
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(1)
  }, 120_000)

  test('exits when it is idle, and starts again for a hit and for a question', async () => {
    const { spool, hitWorker, counted } = await start({ idleMs: 300 })
    spool.append(createRawHit())
    await until(() => counted() === 1)
    await until(() => workers().length === 0)
    expect(hitWorker.state()).toMatchObject({ workerUp: true, engineUp: true, restarts: 0, mark: 1 })
    const before = Date.now()
    expect(hitWorker.countedUntil()).toBeGreaterThanOrEqual(before)

    spool.append(createRawHit())
    await until(() => counted() === 2)
    await until(() => workers().length === 0)
    expect(await clicks(hitWorker)).toBe(2)
    await until(() => workers().length === 0)
    const [first, second] = await Promise.all([clicks(hitWorker), clicks(hitWorker)])
    expect([first, second, counted()]).toEqual([2, 2, 2])
    expect(hitWorker.state().restarts).toBe(0)
  }, 120_000)

  test('stays during questions and hits, however short the idle time is', async () => {
    const { spool, hitWorker, counted } = await start({ idleMs: 1 })
    for (let sent = 1; sent <= 30; sent++) {
      spool.append(createRawHit())
      if (sent % 3 === 0) await hitWorker.drain()
      if (sent % 5 === 0) expect(await clicks(hitWorker)).toBeLessThanOrEqual(sent)
    }
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(30)
    await until(() => counted() === 30)
    expect(hitWorker.state().restarts).toBe(0)
  }, 120_000)

  test('is started again when it is needed while it exits, and close waits for the new one', async () => {
    for (let wait = 0; wait < 20; wait += atScale({ full: 5, soak: 1 })) {
      const { spool, hitWorker, counted, stop } = await start({ idleMs: 1 })
      await clicks(hitWorker)
      // At some moment between these two the worker is told to close.
      for (let turn = 0; turn < wait; turn++) await new Promise(setImmediate)
      await clicks(hitWorker)
      spool.append(createRawHit())
      await stop()
      expect([counted(), workers()]).toEqual([1, []])
    }
  }, 120_000)

  test('that sleeps when its server closes leaves no address behind', async () => {
    const dataDir = await newDataDir()
    const { spool, counted, stop } = await start({ idleMs: 100, dataDir })
    await until(() => workers().length === 0)
    spool.append(createRawHit({ address: '203.0.113.77' }))
    await stop()
    expect(counted()).toBe(1)
    expect(workers()).toEqual([])
    for (const name of readdirSync(join(dataDir, 'spool')))
      expect(readFileSync(join(dataDir, 'spool', name)).includes('203.0.113.77')).toBe(false)
  }, 120_000)

  test('is replaced after a fault or a kill, while the server goes on recording', async () => {
    const { spool, hitWorker, counted } = await start()
    for (let fault = 0; fault < 2; fault++) {
      await hitWorker.drain()
      spool.append(createRawHit())
      for (const pid of workers()) process.kill(pid, 'SIGKILL')
      expect(spool.append(createRawHit())).toBeGreaterThan(0)
      await until(() => hitWorker.state().restarts === fault + 1)
    }
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(4)
    await until(() => counted() === 4)
  }, 120_000)

  test('ends with its server, in whatever way the server ends, and the next worker waits for it', async () => {
    const dataDir = await newDataDir()
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
    await until(() => hasEnded(worker as number))
    lock.release()
  }, 120_000)
})
