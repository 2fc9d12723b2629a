// The random choices of tests. A run has one seed: the quick suite that of the release, the others a new one, which
// run.ts prints. `TEST_SEED=…` repeats the choices of a run.

import { VERSION } from '../../server/config/version.ts'
import { createRandom as createSeeded, type Random } from '../../server/lib/seeded-random.ts'

export const SEED = process.env.TEST_SEED ? Number(process.env.TEST_SEED) : toSeed(VERSION)

/** FNV-1a, of 31 bits: fast-check takes signed numbers of 32 bits. */
function toSeed(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 1
}

/**
 * @param purpose keeps the choices of one test apart from those of another, in whatever order they run
 * @returns numbers from 0 up to 1, as `Math.random()` gives them
 */
export const createRandom = (purpose: string, seed = SEED): Random =>
  createSeeded(toSeed(`${seed} ${purpose}`))

/**
 * Chooses when to kill: a kill at a fixed moment would always hit the same code.
 * @returns draws a time between two times. Each file has its own, because files run in any order
 */
export function createRandomMs(purpose: string) {
  const random = createRandom(purpose)
  return (from: number, to: number) => from + random() * (to - from)
}
