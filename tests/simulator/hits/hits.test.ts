// Thousands of histories of the hit pipeline, with crashes, power cuts and full disks, on the product's own code.

import { describe, expect, test } from 'bun:test'
import { atScale, full, quick } from '../../support/suite.ts'
import { findViolation, listHistories, listSeeds, runApart, verifyHistories } from '../replay.ts'
import { type HitFault, runHitHistory } from './hit-history.ts'
import { HIT_MUTANTS } from './hit-mutants.ts'
import { loadHitPrograms } from './installation.ts'

const HISTORIES = atScale({ quick: 120, full: 3_000, soak: 30_000 })
/** The histories within which a fault must show. */
const FOUND_WITHIN = atScale({ quick: 150, full: 1_500, soak: 3_000 })

const programs = await loadHitPrograms()

describe('the hit pipeline, simulated', () => {
  quick(
    `counts every answered click once, in ${HISTORIES} histories`,
    async () => {
      await verifyHistories('hits', listHistories(HISTORIES), (seed, keepsLog) =>
        runHitHistory(programs, seed, keepsLog),
      )
    },
    1_200_000,
  )

  quick('is the same history for the same seed, twenty times', async () => {
    const [seed = 0] = listSeeds(1)
    const fingerprints = new Set<string>()
    for (let round = 0; round < 20; round++)
      fingerprints.add((await runApart(() => runHitHistory(programs, seed, round % 2 === 0))).fingerprint)
    expect(fingerprints.size).toBe(1)
    expect(fingerprints).not.toContain((await runApart(() => runHitHistory(programs, seed + 1))).fingerprint)
  })
})

describe('the simulator finds', () => {
  const find = (mutant: (typeof HIT_MUTANTS)[number]) => async () => {
    const mutated = await loadHitPrograms(mutant)
    const wrong = await findViolation(listSeeds(FOUND_WITHIN), (seed) => runHitHistory(mutated, seed))
    expect(wrong?.violation).toBeDefined()
  }
  full.each(HIT_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    '%s',
    (_, mutant) => find(mutant)(),
    120_000,
  )

  test.each<[string, HitFault, RegExp]>([
    ['a disk that forgets its syncs', 'forgetsSyncs', /is lost|follows hit|counts \d+ clicks/],
    ['counters that add a batch each time that it comes', 'forgetsMarks', /counts \d+ clicks/],
  ])('%s', async (_, fault, violation) => {
    const wrong = await findViolation(listSeeds(FOUND_WITHIN), (seed) =>
      runHitHistory(programs, seed, false, fault),
    )
    expect(wrong?.violation).toMatch(violation)
  })
})
