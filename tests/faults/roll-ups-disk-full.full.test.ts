// Days are rolled up while the disk is full: that fails, answers stay exact, and it goes on once there is room.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../server/lib/utc-day.ts'
import { createHit } from '../contracts/hit-engine.ts'
import { findSmallDiskProblem, toSmallDiskCommand } from './small-disk.ts'

const reason = findSmallDiskProblem()
const root = join(import.meta.dir, '../..')
const FIRST = Date.UTC(2026, 4, 10) / DAY_MS
/** How long the disk is full, on the clock of the roll-ups. */
const MINUTES = 90

setDefaultTimeout(120_000)

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roll-ups-full-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Each click has a referrer of its own, so that roll-ups are as large as hits. */
function writeHits(days: number, clicks: number) {
  const lines = Array.from({ length: days * clicks }, (_, n) => {
    const day = FIRST + Math.floor(n / clicks)
    const at = day * DAY_MS + Math.floor(((n % clicks) / clicks) * DAY_MS)
    const site = `${Bun.hash(String(n))}.example`
    const referrerUrl = `https://${site}/${n}/a/path/that/takes/room/in/the/log/${Bun.hash(site)}`
    return JSON.stringify(
      createHit({ at, visitor: String(day * 1000 + (n % 700)), referrer: site, referrerUrl }),
    )
  })
  writeFileSync(join(directory, 'batch.ndjson'), `${lines.join('\n')}\n`)
}

interface Report {
  failed: number
  /** How often the engine had to be opened again. */
  deaths: number
  rolledWhileFull: number
  rolledAfter: number
  whileFull: { clicks: number; visitors: number; days: number }
  after: { clicks: number; visitors: number; days: number }
}

/** @param roomBytes how much the engine can write before the disk is full */
const toScript = (dir: string, days: number, roomBytes: number) => `
  import { rmSync, writeFileSync } from 'node:fs'
  import { setLogLevel } from ${JSON.stringify(join(root, 'server/lib/log.ts'))}
  import { openDuckDb } from ${JSON.stringify(join(root, 'server/storage/hits/duckdb/engine.ts'))}
  import { fillDisk } from ${JSON.stringify(join(root, 'tests/faults/small-disk.ts'))}
  setLogLevel('silent')
  const path = ${JSON.stringify(join(dir, 'hits.duckdb'))}
  const now = ${(FIRST + days) * DAY_MS + DAY_MS / 2}
  const open = () => openDuckDb({ path, rollUpRestMs: 0 })
  let engine = await open()
  await engine.load({ node: 'a', number: 1, path: ${JSON.stringify(join(dir, 'batch.ndjson'))} })
  const query = { workspaceId: 1, start: 0, end: now, classes: ['human'], filters: [], groupBy: { by: 'total' } }
  const ask = async () => {
    const { answers, origin } = await engine.explain(query)
    const days = origin.filter(({ from }) => from === 'days').reduce((sum, { start, end }) => sum + (end - start) / ${DAY_MS}, 0)
    return { clicks: answers[0].clicks, visitors: answers[0].visitors, days }
  }
  const [room, filler] = ${JSON.stringify([join(dir, 'room'), join(dir, 'filler')])}
  writeFileSync(room, Buffer.alloc(${roomBytes}))
  fillDisk(filler)
  rmSync(room)
  // Days rest on this clock.
  const startedAt = performance.now()
  let minutes = 0
  performance.now = () => startedAt + minutes * 60_000
  let [failed, deaths, rolledWhileFull] = [0, 0, 0]
  // The worker looks once a minute.
  for (; minutes < ${MINUTES}; minutes++)
    try {
      const progress = await engine.rollUp(now)
      if (progress.failed) failed++
      else if (progress.rolled) rolledWhileFull++
    } catch {
      failed++
      // As its supervisor does with an engine that is dead.
      try { await engine.mark('') } catch { deaths++; await engine.close().catch(() => {}); engine = await open() }
    }
  const whileFull = await ask()
  rmSync(filler)
  await engine.close().catch(() => {})
  engine = await open()
  minutes += 61
  let rolledAfter = 0
  while ((await engine.rollUp(now)).rolled) rolledAfter++
  const after = await ask()
  await engine.close()
  console.log(JSON.stringify({ failed, deaths, rolledWhileFull, rolledAfter, whileFull, after }))`

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test.each([
    ['at once', { diskMb: 48, days: 12, clicks: 2000, roomBytes: 0 }, 0],
    // The log may still grow to the 16 MB at which a commit writes it into the file, and there is no room for that: DuckDB ends.
    [
      'while its log is written into the file',
      { diskMb: 150, days: 5, clicks: 30_000, roomBytes: 20_000_000 },
      1,
    ],
  ])(
    'fails the roll-up of a day %s, and no answer',
    async (_, { diskMb, days, clicks, roomBytes }, leastDeaths) => {
      writeHits(days, clicks)
      const command = [
        ...toSmallDiskCommand(directory, diskMb * 1024 * 1024),
        process.execPath,
        '-e',
        toScript(directory, days, roomBytes),
      ]
      const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit', cwd: root })
      const output = await new Response(child.stdout).text()
      expect(await child.exited).toBe(0)
      const { failed, deaths, rolledAfter, whileFull, after } = JSON.parse(output) as Report
      const exact = { clicks: days * clicks, visitors: days * 700 }
      expect(failed).toBeGreaterThan(0)
      // At most the first two, one ten minutes later, and one an hour after that.
      expect(deaths).toBeGreaterThanOrEqual(leastDeaths)
      expect(deaths).toBeLessThanOrEqual(4)
      expect(whileFull).toMatchObject(exact)
      expect(whileFull.days).toBeLessThan(days)
      expect(rolledAfter).toBeGreaterThan(0)
      expect(after).toEqual({ ...exact, days })
    },
  )
})
