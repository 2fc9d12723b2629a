// The proof that answers from roll-ups are exact: random questions get the answers of a plain recount, whatever is
// loaded, rolled up and deleted before them, and at the same time. The test of an engine calls this with a function
// that opens one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../server/lib/failure.ts'
import { createRandom, pick, type Random } from '../../server/lib/seeded-random.ts'
import { DAY_MS } from '../../server/lib/utc-day.ts'
import type { Hit } from '../../server/storage/hits/hit.ts'
import type { ExplainedAnswer, HitEngine, HitQuery } from '../../server/storage/hits/hit-engine.ts'
import type { OriginKind } from '../../server/storage/hits/rollups/answer-origin.ts'
import { createHitsOfDay, createHitWorld, type HitWorld, pickInt } from '../support/rollups/hit-world.ts'
import { countOrigins, findOriginProblem } from '../support/rollups/plan-model.ts'
import { recountHits } from '../support/rollups/recount-hits.ts'
import { createQuestion } from '../support/rollups/world-questions.ts'
import { atScale, full, quick } from '../support/suite.ts'
import { createHit, createHitQuery } from './hit-engine.ts'

interface Amounts {
  quick?: number
  full: number
  soak: number
}

export interface RollUpSubject {
  open(directory: string): Promise<HitEngine>
  /** How many worlds are made, and how many questions are asked in each. */
  worlds: Amounts
  questions: Amounts
  /** The fewest days of a world. */
  days: Amounts
}

const BUSY = 8
/** The tests end when the machine is slow, too. */
const TIMEOUT_MS = atScale({ full: 600_000, soak: 3_600_000 })

/** An engine, and the list of the hits that it should have. */
interface LoadedWorld {
  world: HitWorld
  engine: HitEngine
  directory: string
  batches: number
  hits: Hit[]
  /** The moment of roll-ups. Days after it are open. */
  now: number
}

async function loadHits(loaded: LoadedWorld, hits: readonly Hit[]) {
  const number = loaded.batches + 1
  const path = join(loaded.directory, `${number}.ndjson`)
  const lines = hits.map((hit, index) => `${JSON.stringify({ ...hit, id: number * 1_000_000 + index })}\n`)
  writeFileSync(path, lines.join(''))
  await loaded.engine.load({ node: 'a', number, path })
  loaded.batches = number
  loaded.hits = [...loaded.hits, ...hits]
}

/** Hits of a few days, most of which are closed and rolled up. */
const loadLate = (loaded: LoadedWorld, random: Random) =>
  loadHits(loaded, createLateHits(loaded.world, 1 + pickInt(5, random), random))

function createLateHits(world: HitWorld, days: number, random: Random): Hit[] {
  const late = Array.from({ length: days }, () => world.firstDay + pickInt(world.days, random))
  return late.flatMap((day) => createHitsOfDay(world, day, BUSY, random))
}

/** Rolls up until nothing is left to do, or a number of times. */
async function rollUp({ engine, now }: LoadedWorld, times = Number.POSITIVE_INFINITY) {
  for (let n = 0; n < times; n++) if (!(await engine.rollUp(now)).rolled) return
}

async function removeImport(loaded: LoadedWorld, random: Random) {
  const removed = { workspaceId: pick([1, 2], random), importId: 1 + pickInt(3, random) }
  await loaded.engine.deleteImported(removed)
  loaded.hits = withoutImport(loaded.hits, removed)
}

const withoutImport = (hits: readonly Hit[], removed: { workspaceId: number; importId: number }) =>
  hits.filter((hit) => hit.workspaceId !== removed.workspaceId || hit.importId !== removed.importId)

async function removeOldest(loaded: LoadedWorld, random: Random) {
  const { firstDay, days } = loaded.world
  const day = (firstDay + pickInt(Math.floor(days / 4), random)) * DAY_MS
  const before = day + (random() < 0.5 ? 0 : pickInt(DAY_MS, random))
  await loaded.engine.deleteBefore(before)
  loaded.hits = loaded.hits.filter((hit) => hit.at >= before)
}

async function eraseWorkspace(loaded: LoadedWorld, workspaceId: number) {
  await loaded.engine.erase([workspaceId])
  loaded.hits = loaded.hits.filter((hit) => hit.workspaceId !== workspaceId)
}

/** A change of a world, and the share of the questions that is asked afterwards. */
const STEPS: [share: number, step: (loaded: LoadedWorld, random: Random) => Promise<void>][] = [
  // The oldest days, and no month: months come after all days.
  [0.08, (loaded, random) => rollUp(loaded, 5 + pickInt(30, random))],
  [0.32, (loaded) => rollUp(loaded)],
  [0.12, loadLate],
  [0.06, (loaded) => rollUp(loaded, 1)],
  [
    0.14,
    async (loaded) => {
      await rollUp(loaded)
      // The last days close.
      loaded.now += 8 * DAY_MS
      await rollUp(loaded)
    },
  ],
  [0.07, removeImport],
  [
    0.07,
    async (loaded, random) => {
      await rollUp(loaded)
      await removeOldest(loaded, random)
    },
  ],
  [
    0.07,
    async (loaded, random) => {
      await loadLate(loaded, random)
      await rollUp(loaded, 2)
      await eraseWorkspace(loaded, 2)
    },
  ],
  [0.07, (loaded) => rollUp(loaded)],
]

/** How many answers came from there, at least in part. */
type OriginCounts = Record<OriginKind, number>
const createCounts = (): OriginCounts => ({ months: 0, days: 0, quarter_hours: 0, hits: 0 })

function checkAnswer(
  { answers, origin }: ExplainedAnswer,
  query: HitQuery,
  expected: unknown[],
  about: object,
  counts: OriginCounts,
) {
  const problem = Bun.deepEquals(answers, expected) ? findOriginProblem(origin, query) : 'the answers'
  if (problem) throw new Error(JSON.stringify({ problem, ...about, query, answers, expected, origin }))
  countOrigins(counts, origin)
}

export function testRollUps(name: string, subject: RollUpSubject) {
  describe(`roll-ups: ${name}`, () => {
    let directory: string
    let engine: HitEngine

    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'rollups-'))
      engine = await subject.open(directory)
    })
    afterEach(async () => {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    })

    test('of a question for hits alone, days without hits are told apart', async () => {
      const day = Date.UTC(2026, 4, 3)
      const query = createHitQuery({
        start: day - 365 * DAY_MS,
        end: day + 2 * DAY_MS,
        groupBy: { by: 'linkGroup', groups: [{ linkId: 1, group: 'x' }], limit: 3 },
      })
      const world: HitWorld = { seed: 0, firstDay: day / DAY_MS, days: 1, zones: [], hits: [] }
      const loaded: LoadedWorld = { world, engine, directory, batches: 0, hits: [], now: day }
      const listOrigin = async () =>
        (await engine.explain(query)).origin.map(({ start, end, why }) => [start, end, why])
      expect(await listOrigin()).toEqual([[query.start, query.end, 'no_hits']])
      await loadHits(loaded, [createHit({ at: day, linkId: 1 })])
      expect(await listOrigin()).toEqual([
        [query.start, day, 'no_hits'],
        [day, day + DAY_MS, 'question'],
        [day + DAY_MS, query.end, 'no_hits'],
      ])
    })

    const counts = createCounts()
    const worlds = Array.from({ length: atScale(subject.worlds) }, (_, seed) => seed)
    const questions = atScale(subject.questions)

    quick.each(worlds)(
      'random questions get the answers of a recount: world %i',
      async (seed) => {
        const world = createHitWorld(seed, BUSY, atScale(subject.days))
        const random = createRandom(seed)
        const now = (world.firstDay + world.days - (seed % 3 === 0 ? 4 : -1)) * DAY_MS
        const loaded: LoadedWorld = { world, engine, directory, batches: 0, hits: [], now }
        const [early, late] = [
          world.hits.filter((_, n) => n % 3 > 0),
          world.hits.filter((_, n) => n % 3 === 0),
        ]
        await loadHits(loaded, early)
        await loadHits(loaded, late)
        for (const [step, [share, run]] of STEPS.entries()) {
          await run(loaded, random)
          for (let n = 0; n < Math.ceil(share * questions); n++) {
            const { zone, query } = createQuestion(world, random)
            const expected = recountHits(loaded.hits, query)
            checkAnswer(await engine.explain(query), query, expected, { seed, step, n, zone }, counts)
            if (n % 10 === 0) expect(await engine.ask(query)).toEqual(expected)
          }
        }
      },
      TIMEOUT_MS,
    )

    // Few questions meet each kind by chance.
    full('many of these answers come from each kind of roll-ups', () => {
      const asked = worlds.length * questions
      expect(counts.months).toBeGreaterThan(asked * 0.02)
      expect(counts.days).toBeGreaterThan(asked * 0.2)
      expect(counts.quarter_hours).toBeGreaterThan(asked * 0.03)
    })

    full(
      'answers at the same time as loads, roll-ups and deletions are those of some moment in between',
      async () => {
        const world = createHitWorld(1, BUSY, 36)
        const random = createRandom(99)
        const now = (world.firstDay + world.days + 1) * DAY_MS
        const loaded: LoadedWorld = { world, engine, directory, batches: 0, hits: [], now }
        await loadHits(loaded, world.hits)
        await rollUp(loaded)
        const { changes, states } = planChanges(loaded, random)
        let [begun, done, ended] = [0, 0, false]
        const change = async () => {
          for (const run of changes) {
            if (ended) return
            begun++
            await run()
            done++
          }
        }
        const roll = async () => {
          while (!ended) if (!(await ifAvailable(() => engine.rollUp(now)))?.rolled) await Bun.sleep(1)
        }
        const raced = createCounts()
        let checked = 0
        const ask = async (seed: number) => {
          const own = createRandom(seed)
          while (!ended) {
            const { query, zone } = createQuestion(world, own)
            const from = done
            const explained = await ifAvailable(() => engine.explain(query))
            if (!explained) continue
            const possible = states.slice(from, begun + 1).map((hits) => recountHits(hits, query))
            const expected = possible.find((each) => Bun.deepEquals(each, explained.answers)) ?? possible
            checkAnswer(explained, query, expected, { zone, from, begun }, raced)
            checked++
            // Commits wait for a moment without questions.
            await Bun.sleep(pickInt(10, own))
          }
        }
        const end = () => {
          ended = true
        }
        const works = [change().finally(end), roll(), ask(1), ask(2)].map((work) => work.finally(end))
        for (const each of await Promise.allSettled(works)) if (each.status === 'rejected') throw each.reason
        expect(checked).toBeGreaterThan(changes.length)
        expect(raced.days).toBeGreaterThan(0)
        // When everything is quiet, roll-ups are true.
        loaded.hits = states.at(-1) as Hit[]
        await rollUp(loaded)
        for (let n = 0; n < atScale({ full: 30, soak: 100 }); n++) {
          const { query, zone } = createQuestion(world, random)
          checkAnswer(await engine.explain(query), query, recountHits(loaded.hits, query), { zone, n }, raced)
        }
      },
      TIMEOUT_MS,
    )
  })
}

/** Loads of late hits, and deletions between them. State n is the list after n changes. */
function planChanges(loaded: LoadedWorld, random: Random) {
  const { engine, world } = loaded
  const changes: (() => Promise<void>)[] = []
  const states: Hit[][] = [loaded.hits]
  const add = (run: () => Promise<void>, hits: Hit[]) => {
    changes.push(run)
    states.push(hits)
  }
  for (let n = 0; n < atScale({ full: 24, soak: 400 }); n++) {
    const hits = states.at(-1) as Hit[]
    const kind = random()
    if (kind < 0.08) {
      const removed = { workspaceId: pick([1, 2], random), importId: 1 + pickInt(3, random) }
      add(() => engine.deleteImported(removed), withoutImport(hits, removed))
    } else if (kind < 0.14) {
      const before = (world.firstDay + pickInt(2, random)) * DAY_MS + pickInt(DAY_MS, random)
      add(
        () => engine.deleteBefore(before),
        hits.filter((hit) => hit.at >= before),
      )
    } else if (kind < 0.18) {
      add(
        () => engine.erase([9]),
        hits.filter((hit) => hit.workspaceId !== 9),
      )
    } else {
      // All of one day: an engine may show a batch of several months month by month.
      // Most are of the last days, so that the month stays whole for a while.
      const fromEnd = random() < 0.75 ? pickInt(4, random) : pickInt(world.days, random)
      const day = world.firstDay + world.days - 1 - fromEnd
      const late = createHitsOfDay(world, day, BUSY, random)
      add(() => loadHits(loaded, late), [...hits, ...late])
    }
  }
  return { changes, states }
}

/** @returns undefined when the engine is busy with an erasure */
async function ifAvailable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code === 'unavailable') return undefined
    throw error
  }
}
