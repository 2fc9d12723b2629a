// Yields the event loop during long work, so that redirects run in between.

import { noteResumed } from '../telemetry/request-context.ts'

/** Resolves in the next turn of the event loop. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve)).then(noteResumed)

/** Maximum delay of a redirect. */
const SLICE_MS = 2

/** @returns a function to await between two steps of long work: it yields when the time slice is used up */
export function createPacer(): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < sliceEnd) return undefined
    return nextTurn().then(() => {
      sliceEnd = performance.now() + SLICE_MS
    })
  }
}

let turnEnd = 0

/**
 * A burst of requests can arrive in one turn of the event loop, and redirects would wait for all of them.
 * @returns undefined while the requests of this turn have used less than a slice, else a promise for a later turn
 */
export function waitForTurn(): Promise<void> | undefined {
  const now = performance.now()
  if (turnEnd !== 0 && now > turnEnd) return nextTurn().then(waitForTurn)
  if (turnEnd !== 0) return undefined
  turnEnd = now + SLICE_MS
  setImmediate(() => {
    turnEnd = 0
  })
  return undefined
}
