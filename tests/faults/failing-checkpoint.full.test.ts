// DuckDB cannot write its file when it makes a checkpoint: it then refuses every statement, and says that a batch failed
// which is stored. The engine is opened again, no hit is lost, and none counts twice.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRawHit } from '../../server/features/hits/spool/raw-hit.fixture.ts'
import { openSpool } from '../../server/features/hits/spool/spool.ts'
import { openHitWorkerClient } from '../../server/features/hits/worker/client.ts'
import { setLogLevel } from '../../server/lib/log.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { listWorkerProcesses } from '../support/processes/worker-processes.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { findStraceProblem, toFaultCommand } from './strace.ts'

setLogLevel('silent')
const closeLater = closeAfterAll()
const reason = findStraceProblem()
const EVERYTHING = {
  workspaceId: 1,
  start: 0,
  end: Date.now() + 1e6,
  classes: ['human' as const],
  filters: [],
  groupBy: { by: 'total' } as const,
}

/** A hit worker that makes a checkpoint after each batch: it keeps one batch, and a copy of DuckDB's file. */
async function startWorker() {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-checkpoint-'))
  closeLater(() => rmSync(dataDir, { recursive: true }))
  const spool = await openSpool({ dir: join(dataDir, 'spool') })
  let counted = 0
  const hitWorker = openHitWorkerClient({
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: 0,
    async storeCounts({ counts }) {
      for (const [, clicks] of counts) counted += clicks
    },
    shipEveryMs: 20,
    pruneEveryMs: 20,
    batchRetention: { ageMs: 1e9, bytes: 1e12, files: 1 },
  })
  closeLater(async () => {
    await hitWorker.close()
    await spool.close()
  })
  const record = async (hits: number) => {
    for (let hit = 0; hit < hits; hit++) spool.append(createRawHit())
    await hitWorker.drain()
  }
  return { dataDir, hitWorker, record, getCounted: () => counted }
}

describe.skipIf(reason !== undefined)(`a checkpoint${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
  test.each(atScale({ full: ['ENOSPC'], soak: ['ENOSPC', 'EIO'] }))(
    'that fails with %s ends the engine, which is opened again and counts each hit once',
    async (error) => {
      const { dataDir, hitWorker, record, getCounted } = await startWorker()
      for (let batch = 0; batch < 4; batch++) await record(10)
      const [pid] = listWorkerProcesses(process.pid) as [number]
      const faults = join(dataDir, 'faults')
      writeFileSync(faults, '')
      const files = [join(dataDir, 'hits.duckdb')]
      const strace = Bun.spawn(toFaultCommand({ pid, files, call: 'pwrite64', error, every: 1, faults }), {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      closeLater(() => strace.kill('SIGKILL'))
      let hits = 40
      await until('the engine to be down', async () => {
        await record(10)
        hits += 10
        return readFileSync(faults, 'utf8').includes('INJECTED') && !hitWorker.state().engineUp
      })
      strace.kill('SIGINT')
      await strace.exited
      await record(10)
      hits += 10
      await until('the engine to be up', () => hitWorker.state().engineUp)
      await hitWorker.drain()
      expect((await hitWorker.ask(EVERYTHING))[0]?.clicks).toBe(hits)
      await until('all counts', () => getCounted() === hits)
      expect(readdirSync(dataDir).filter((name) => name.includes('.corrupt-'))).toEqual([])
      await hitWorker.close()
    },
    120_000,
  )
})
