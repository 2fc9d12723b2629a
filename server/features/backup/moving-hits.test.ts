// A backup while hits move fast from the spool to batches, and from there into the engine's backup, which deletes them.

import { expect, setDefaultTimeout } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeAfterAll } from '../../../tests/support/close-after-all.ts'
import { atScale, quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { requireOwnFormats } from '../../start/open-rows.ts'
import { DEFAULT_BATCH_RETENTION } from '../hits/batches/batch-retention.ts'
import { createHitImport, hasPendingImports } from '../hits/batches/hit-import.ts'
import { createRawHit } from '../hits/spool/raw-hit.fixture.ts'
import { openSpool } from '../hits/spool/spool.ts'
import { openHitWorkerClient } from '../hits/worker/client.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'

setDefaultTimeout(120_000)

const BACKUPS = atScale({ quick: 1, full: 2, soak: 40 })
/** The most hits that wait in the spool. Without a bound, a worker on a busy machine would never catch up. */
const AHEAD_MAX = 300
const NOW = Date.UTC(2026, 4, 10)
const closeLater = closeAfterAll()

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-moving-'))
  closeLater(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** @param keptBatches the number of batches that stay when an engine's backup has them */
async function openHits(dataDir: string, keptBatches: number) {
  let counted = 0
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes: 64 * 1024 })
  const hitWorker = openHitWorkerClient({
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: 0,
    async storeCounts({ counts }) {
      for (const [, clicks] of counts) counted += clicks
    },
    shipEveryMs: 10,
    maxHits: 20,
    batchRetention: { ...DEFAULT_BATCH_RETENTION, files: keptBatches },
    pruneEveryMs: 30,
  })
  const close = async () => {
    await hitWorker.close()
    await spool.close()
  }
  closeLater(close)
  return { spool, hitWorker, close, getCounted: () => counted }
}

/** Hands hits over as another process does, each of another link and in a file of its own. @returns the links */
async function handOver(dataDir: string, first: number): Promise<number[]> {
  const handed = await createHitImport(dataDir, `handed-${first}`)
  const links = Array.from({ length: 5 }, (_, i) => first + i)
  for (const linkId of links) {
    const hit = { id: linkId, at: NOW, workspaceId: 1, linkId, visitor: '7', ...CLICK }
    await handed.add(`${JSON.stringify(hit)}\n`)
  }
  await handed.finish()
  return links
}

const CLICK = { outcome: 'redirect', class: 'human', trigger: 'link' }

/** The ids of the links that were clicked, each as often as it counts. */
async function readClickedLinks(dataDir: string): Promise<number[]> {
  const { hitWorker, close } = await openHits(dataDir, 1e6)
  await until('the engine to be up', () => hitWorker.state().engineUp)
  await until('the hits of other processes', () => !hasPendingImports(dataDir))
  await hitWorker.drain()
  const rows = await hitWorker.ask({
    workspaceId: 1,
    start: 0,
    end: 1e13,
    classes: ['human'],
    filters: [],
    groupBy: { by: 'linkId', limit: 1e6, nullAs: '0' },
  })
  await close()
  return rows.flatMap(({ key, clicks }) => Array.from({ length: clicks }, () => Number(key)))
}

quick('each hit that was answered before a backup is in it once, wherever it is at that moment', async () => {
  const dataDir = newDirectory()
  const live = await openHits(dataDir, 8)
  let answered = 0
  let running = true
  const answering = (async () => {
    while (running) {
      // An id is 0 while the hit waits for a segment.
      for (let i = 0; i < 10; i++) live.spool.append(createRawHit({ linkId: ++answered }))
      await until('the worker to follow', () => answered - live.getCounted() < AHEAD_MAX)
    }
  })()
  const engineBackup = join(dataDir, 'hits.duckdb.backup')
  await until('batches to be deleted', () => existsSync(engineBackup))
  const backups = newDirectory()
  const moments: { answered: number; handed: number[] }[] = []
  const handed: number[] = []
  for (let n = 0; n < BACKUPS; n++) {
    handed.push(...(await handOver(dataDir, 1e9 + n * 10)))
    await until('every hit to be in the spool', () => live.spool.stats().waiting === 0)
    moments.push({ answered, handed: [...handed] })
    await backUp(
      {
        dataDir,
        // Rows elsewhere: the hits are staged at once.
        databaseUrl: 'postgres://elsewhere/',
        secret: 'a-secret-of-some-length-for-this-test',
        version: '0.0.0',
        now: () => NOW,
        // Hits go on to the next place between two pieces of a copy: the worker is another process.
        progress: () => Bun.sleepSync(100),
        signal: new AbortController().signal,
      },
      join(backups, `${n}`),
    )
  }
  running = false
  await answering
  await live.close()
  for (const [n, moment] of moments.entries()) {
    const restored = join(newDirectory(), 'data')
    await restore(
      {
        dataDir: restored,
        requireOwnFormats,
        progress: () => {},
        signal: new AbortController().signal,
      },
      join(backups, `${n}`),
    )
    expect(existsSync(join(restored, 'hits.duckdb.backup'))).toBe(true)
    const clicked = await readClickedLinks(restored)
    const once = new Set(clicked)
    expect(once.size).toBe(clicked.length)
    const promised = [...Array.from({ length: moment.answered }, (_, i) => i + 1), ...moment.handed]
    expect(promised.filter((link) => !once.has(link))).toEqual([])
  }
})
