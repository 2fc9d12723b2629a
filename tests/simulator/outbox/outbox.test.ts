// Histories of the outbox, with killed nodes, lost answers, receivers of all kinds and clocks that jump, on the product's own
// code and a real SQLite.

import { afterAll, describe, expect } from 'bun:test'
import { atScale, full, quick } from '../../support/suite.ts'
import { findViolation, listHistories, listSeeds, runApart, verifyHistories } from '../replay.ts'
import { loadOutboxProgram, runOutboxHistory } from './outbox-history.ts'
import { OUTBOX_MUTANTS } from './outbox-mutants.ts'
import { openSqliteInMemory } from './rows.ts'

const HISTORIES = atScale({ quick: 15, full: 300, soak: 3_000 })
/** The histories within which a fault must show. */
const FOUND_WITHIN = atScale({ quick: 60, full: 200, soak: 200 })

const ROUNDS = atScale({ quick: 4, full: 20, soak: 20 })

const sqlite = await openSqliteInMemory()
afterAll(() => sqlite.close())
const program = await loadOutboxProgram()

type OutboxMutant = (typeof OUTBOX_MUTANTS)[number]

async function find(mutant: OutboxMutant) {
  const mutated = await loadOutboxProgram(mutant)
  const wrong = await findViolation(listSeeds(FOUND_WITHIN), (seed) =>
    runOutboxHistory(mutated, sqlite, seed),
  )
  expect(wrong?.violation).toBeDefined()
}

const byName = (mutants: OutboxMutant[]) => mutants.map((mutant) => [mutant.name, mutant] as const)

describe('the outbox, simulated', () => {
  quick(
    `delivers what was acknowledged, in ${HISTORIES} histories`,
    async () => {
      await verifyHistories('outbox', listHistories(HISTORIES), (seed, keepsLog) =>
        runOutboxHistory(program, sqlite, seed, keepsLog),
      )
    },
    1_200_000,
  )

  quick(`is the same history for the same seed, ${ROUNDS} times`, async () => {
    const [seed = 0] = listSeeds(1)
    const fingerprints = new Set<string>()
    for (let round = 0; round < ROUNDS; round++)
      fingerprints.add(
        (await runApart(() => runOutboxHistory(program, sqlite, seed, round % 2 === 0))).fingerprint,
      )
    expect(fingerprints.size).toBe(1)
    expect(fingerprints).not.toContain(
      (await runApart(() => runOutboxHistory(program, sqlite, seed + 1))).fingerprint,
    )
  })
})

describe('the simulator finds', () => {
  full.each(byName(OUTBOX_MUTANTS))('%s', (_, mutant) => find(mutant), 120_000)
})
