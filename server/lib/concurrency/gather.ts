// Waits until no more work arrives, so that more of it is done at once.

import { nextTurn } from './next-turn.ts'

// A relayed request takes two turns of the event loop. With one quiet turn, a commit had only 21 writes of 64 concurrent
// senders.
const QUIET_TURNS = 2

/** Resolves when nothing was added for some turns of the event loop, or `max` are waiting. */
export async function gather(waiting: readonly unknown[], max: number): Promise<void> {
  for (let quietTurns = 0; quietTurns < QUIET_TURNS && waiting.length < max; ) {
    const before = waiting.length
    await nextTurn()
    quietTurns = waiting.length > before ? 0 : quietTurns + 1
  }
}
