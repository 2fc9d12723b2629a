import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import { damageBlocks } from '../../../../../tests/support/rollups/damage-blocks.ts'
import { atScale, full, quick } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { Hit } from '../../hit.ts'
import type { HitQuery } from '../../hit-engine.ts'
import { type DuckDbEngine, openDuckDb } from '../engine.ts'
import { toFailuresPath } from '../hit-file.ts'

const FIRST = Date.UTC(2026, 3, 28) / DAY_MS
const DAYS = 40
/** Kills. */
const ROUNDS = atScale({ quick: 2, full: 6, soak: 60 })
const NOW = (FIRST + DAYS) * DAY_MS + DAY_MS / 2

let directory: string
let path: string
const opened: DuckDbEngine[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roll-ups-'))
  path = join(directory, 'hits.duckdb')
})
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

async function open(options: { withoutRollUps?: boolean } = {}) {
  const engine = await openDuckDb({ path, batchDir: directory, runHits: 500, rollUpRestMs: 0, ...options })
  opened.push(engine)
  return engine
}
async function close(engine: DuckDbEngine) {
  opened.splice(opened.indexOf(engine), 1)
  await engine.close()
}

const createDay = (day: number, clicks = 60): Hit[] =>
  Array.from({ length: clicks }, (_, n) =>
    createHit({
      at: day * DAY_MS + Math.floor((n / clicks) * DAY_MS),
      workspaceId: 1 + (n % 2),
      linkId: 1 + (n % 5),
      visitor: String(day * 100 + (n % 13)),
      country: ['DE', 'US', null][(n % 13) % 3],
      referrer: n % 4 === 0 ? null : `site-${(n * 7) % 23}.example`,
      utmCampaign: `campaign ${n % 6}`,
    }),
  )
const createDays = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => createDay(from + n)).flat()

function writeBatch(number: number, hits: Hit[]) {
  const file = join(directory, `${number}.ndjson`)
  writeFileSync(file, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  return { node: 'a', number, path: file }
}

async function rollUpAll(engine: DuckDbEngine, now = NOW) {
  let rolled = 0
  while ((await engine.rollUp(now)).rolled) rolled++
  return rolled
}

const range = { start: FIRST * DAY_MS, end: NOW }
const zoned = Array.from({ length: DAYS }, (_, n) => (FIRST + n) * DAY_MS - 2 * 3_600_000)
const QUESTIONS: HitQuery[] = [
  createHitQuery(range),
  createHitQuery({ ...range, groupBy: { by: 'time', starts: zoned } }),
  createHitQuery({ ...range, groupBy: { by: 'linkId', limit: 10, nullAs: 'Unknown' } }),
  createHitQuery({ ...range, groupBy: { by: 'referrer', limit: 10, nullAs: '(direct)' } }),
  createHitQuery({ ...range, groupBy: { by: 'channel', limit: 10, nullAs: 'Unknown' } }),
  createHitQuery({ ...range, groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' } }),
  createHitQuery({ ...range, filters: [{ column: 'country', values: ['DE'], negate: false }] }),
]

const askAll = async (engine: DuckDbEngine) => {
  const answers = []
  for (const question of QUESTIONS) answers.push(await engine.ask(question))
  return answers
}

/** The answer of hits alone. */
async function askRaw() {
  const engine = await open({ withoutRollUps: true })
  const answers = await askAll(engine)
  await close(engine)
  return answers
}

const countRolledDays = async (engine: DuckDbEngine) =>
  (await engine.explain(createHitQuery(range))).origin
    .filter(({ from }) => from === 'days')
    .reduce((days, { start, end }) => days + (end - start) / DAY_MS, 0)

full('hits that come while their day is rolled up keep it from being marked', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDay(FIRST, 20_000)))
  const rounds = 16
  for (let round = 0; round < rounds; round++) {
    const rolling = engine.rollUp(NOW)
    // At another moment of the roll-up in each round.
    await Bun.sleep(round * 10)
    await engine.load(writeBatch(2 + round, createDay(FIRST, 40)))
    await rolling
    const clicks = (20_000 + (round + 1) * 40) / 2
    expect((await engine.ask(createHitQuery(range)))[0]?.clicks).toBe(clicks)
  }
  await rollUpAll(engine)
  expect(await countRolledDays(engine)).toBe(1)
  const rolled = await askAll(engine)
  await close(engine)
  expect(rolled).toEqual(await askRaw())
})

full('a clock that jumps a month ahead and back makes work, and no wrong answer', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDays(FIRST, FIRST + 5)))
  const ahead = NOW + 30 * DAY_MS
  await rollUpAll(engine, ahead)
  await engine.load(writeBatch(2, createDays(FIRST + 3, FIRST + 9)))
  await rollUpAll(engine, FIRST * DAY_MS)
  await engine.load(writeBatch(3, createDay(FIRST + 4)))
  const answers = await askAll(engine)
  await close(engine)
  expect(answers).toEqual(await askRaw())
})

quick(
  'killed at any moment of a roll-up, the file has exact answers',
  async () => {
    const engine = await open()
    await engine.load(writeBatch(1, createDays(FIRST, FIRST + DAYS)))
    await engine.sorted()
    await close(engine)
    const raw = await askRaw()
    const script = `
    import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, '..', 'engine.ts'))}
    const engine = await openDuckDb({ path: ${JSON.stringify(path)}, rollUpRestMs: 0 })
    console.log('open')
    for (;;) if ((await engine.rollUp(${NOW})).rolled) console.log('rolled')
      else { console.log('done'); await Bun.sleep(1000) }`
    let rolledBefore = 0
    for (let round = 0; round < ROUNDS; round++) {
      const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
      let lines = 0
      for await (const chunk of child.stdout) {
        lines += new TextDecoder().decode(chunk).trim().split('\n').length
        if (lines > 1 + round * 2) break
      }
      // At another moment of the next transaction in each round.
      await Bun.sleep(round * 9)
      child.kill('SIGKILL')
      await child.exited
      const after = await open()
      expect(await askAll(after)).toEqual(raw)
      const rolled = await countRolledDays(after)
      expect(rolled).toBeGreaterThanOrEqual(rolledBefore)
      rolledBefore = rolled
      await close(after)
    }
    expect(rolledBefore).toBeGreaterThan(3)
  },
  120_000,
)

test('a day whose roll-up ended the process is not the next one again, and no other day waits for it', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDays(FIRST, FIRST + 4)))
  await close(engine)
  const script = `
    import { existsSync } from 'node:fs'
    import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, '..', 'engine.ts'))}
    const engine = await openDuckDb({ path: ${JSON.stringify(path)}, rollUpRestMs: 0 })
    void engine.rollUp(${NOW})
    while (!existsSync(${JSON.stringify(toFailuresPath(path))})) await new Promise(setImmediate)
    process.kill(process.pid, 'SIGKILL')`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'inherit', stderr: 'inherit' })
  expect(await child.exited).not.toBe(0)
  const after = await open()
  expect(await rollUpAll(after)).toBe(3)
  const origins = (await after.explain(createHitQuery({ ...range, end: (FIRST + 4) * DAY_MS }))).origin
  expect(origins.map(({ from, start }) => [from, start / DAY_MS])).toEqual([
    ['hits', FIRST],
    ['days', FIRST + 1],
  ])
}, 60_000)

full('roll-ups that the disk has damaged are dropped and made again, and answers stay exact', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDays(FIRST, FIRST + DAYS)))
  await engine.sorted()
  const raw = await askAll(engine)
  await rollUpAll(engine)
  await close(engine)
  await damageBlocks(path, { table: 'roll_values', others: ['hits_sorted', 'hits_arrived'] })
  const after = await open()
  expect(await askAll(after)).toEqual(raw)
  await rollUpAll(after)
  await rollUpAll(after)
  expect(await countRolledDays(after)).toBe(DAYS)
  expect(await askAll(after)).toEqual(raw)
  expect(await after.mark('a')).toBe(1)
})

quick(
  'damaged hits are not taken for damaged roll-ups: the file is refused, and not rolled up for ever',
  async () => {
    const engine = await open()
    await engine.load(writeBatch(1, createDays(FIRST, FIRST + DAYS)))
    await engine.sorted()
    await close(engine)
    await damageBlocks(path, { table: 'hits_sorted', others: ['roll_marks', 'marks'] })
    const after = await open()
    await expect(rollUpAll(after)).rejects.toThrow('Corrupt')
    await expect(after.mark('a')).rejects.toThrow('Corrupt')
  },
)

quick('a day with fewer rows than its mark says is counted from hits', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDays(FIRST, FIRST + 5)))
  const raw = await askAll(engine)
  await rollUpAll(engine)
  await close(engine)
  await change(`DELETE FROM roll_values WHERE day = ${FIRST + 2} AND name = 0`)
  const after = await open()
  expect(await countRolledDays(after)).toBe(4)
  expect(await askAll(after)).toEqual(raw)
})

quick('roll-ups that another release has made by other rules are made again', async () => {
  const engine = await open()
  await engine.load(writeBatch(1, createDays(FIRST, FIRST + 5)))
  const raw = await askAll(engine)
  await rollUpAll(engine)
  await close(engine)
  await change("UPDATE roll_rules SET rules = 'other'")
  const after = await open()
  expect(await countRolledDays(after)).toBe(0)
  expect(await askAll(after)).toEqual(raw)
})

full(
  'a release before one with more tables of roll-ups makes its own again once, and not at every opening',
  async () => {
    const engine = await open()
    await engine.load(writeBatch(1, createDays(FIRST, FIRST + 5)))
    await close(engine)
    await change('CREATE TABLE roll_of_a_later_release (day INTEGER)')
    const first = await open()
    await rollUpAll(first)
    await close(first)
    expect(await countRolledDays(await open())).toBe(5)
  },
)

async function change(statement: string) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(statement)
  await connection.run('CHECKPOINT')
  connection.closeSync()
  instance.closeSync()
}
