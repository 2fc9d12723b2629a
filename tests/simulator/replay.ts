// Runs histories one after another, and prints how to repeat one that failed: `TOWPATH_HISTORY=<seed> npm test --
// tests/simulator/hits`.

import { SEED } from '../support/random.ts'

export interface HistoryResult {
  seed: number
  /** The violation; undefined where there is none. */
  violation: string | undefined
  /** Equal for equal histories. */
  fingerprint: string
  /** The events, where the history keeps its log. */
  log: string[]
}

/** @param keepsLog takes as long again */
export type RunHistory = (seed: number, keepsLog: boolean) => HistoryResult

const WANTED = process.env.TOWPATH_HISTORY

/** The histories that follow from the seed of this run. */
export const listSeeds = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => (SEED + i) >>> 0)

/** The same, or the wanted one alone. */
export const listHistories = (count: number): number[] =>
  WANTED === undefined ? listSeeds(count) : [Number(WANTED)]

/** @returns the first history that goes wrong; undefined where none does */
export async function findViolation(
  seeds: readonly number[],
  run: RunHistory,
): Promise<HistoryResult | undefined> {
  for (const seed of seeds) {
    const result = await runApart(() => run(seed, false))
    if (result.violation !== undefined) return result
  }
  return undefined
}

/** A history runs in a turn of its own: it empties the queue of microtasks itself. */
export const runApart = <T>(work: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
    })
  })

/** @throws with the log of the first history that goes wrong */
export async function verifyHistories(
  folder: string,
  seeds: readonly number[],
  run: RunHistory,
): Promise<void> {
  const wrong = await findViolation(seeds, run)
  if (!wrong && WANTED === undefined) return
  const {
    seed,
    violation = 'nothing is wrong',
    log,
  } = await runApart(() => run(wrong?.seed ?? Number(WANTED), true))
  const replay = `TOWPATH_HISTORY=${seed} npm test -- tests/simulator/${folder}`
  throw new Error([...log, `History ${seed}: ${violation}`, `Repeat it with ${replay}`].join('\n'))
}
