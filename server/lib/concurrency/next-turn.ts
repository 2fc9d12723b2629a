// Gives the event loop back in the middle of long work, so that redirects run in between.

import { noteResumed } from '../telemetry/request-context.ts'

/** Resolves in the next turn of the event loop. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve)).then(noteResumed)

/** A redirect waits this long at most. */
const SLICE_MS = 2

/** @returns a function to await between two steps of long work: it gives the loop back when the slice is used up */
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
 * Resolves at once while the requests of this turn of the event loop have used less than a slice, else in a later turn:
 * a burst of requests comes in one turn, and redirects would wait for all of them.
 */
export async function waitForTurn(): Promise<void> {
  while (turnEnd !== 0 && performance.now() > turnEnd) await nextTurn()
  if (turnEnd !== 0) return
  turnEnd = performance.now() + SLICE_MS
  setImmediate(() => {
    turnEnd = 0
  })
}
