// Collects counts in memory and writes them together, so that no visitor waits for a write. Counts of the same key are
// added up. A killed process loses what it has not written.

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { toFailure } from './errors.ts'

export interface CountBuffer<T> {
  /** Never throws and never waits. */
  add(count: T): void
  /** Writes all counts so far. Counts that cannot be written wait for the next flush. */
  flush(): Promise<void>
  /** Writes the last counts. Later counts are dropped. */
  close(): Promise<void>
}

export interface CountBufferNeeds<T> {
  /** Begins the names of its log lines. */
  name: string
  everyMs: number
  /** Limit of the counts in memory while the database is unavailable. */
  waitingMax: number
  toKey: (count: T) => string
  /** Adds a count to one of the same key. */
  merge: (into: T, count: T) => void
  /** Stores at most PER_WRITE counts in one transaction. */
  store: (counts: T[]) => Promise<void>
  /** Converts a count above the limit to one with a common key; without this it is dropped. */
  toOverflow?: (count: T) => T
}

interface BufferState<T> {
  needs: CountBufferNeeds<T>
  waiting: Map<string, T>
  timer: Timer | undefined
  flushing: Promise<void> | undefined
  closed: boolean
  /** The last write failed because the database was unavailable. */
  degraded: boolean
}

/** A write of SQLite blocks redirects; this many counts take 5 ms. */
const PER_WRITE = 100

export function openCountBuffer<T>(needs: CountBufferNeeds<T>): CountBuffer<T> {
  const state: BufferState<T> = {
    needs,
    waiting: new Map(),
    timer: undefined,
    flushing: undefined,
    closed: false,
    degraded: false,
  }
  return {
    add(count) {
      if (state.closed) return
      addCount(state, count)
      scheduleFlush(state)
    },
    flush: () => flush(state),
    async close() {
      state.closed = true
      // A flush that began before the last counts may still run.
      await state.flushing
      await flush(state)
      clearTimeout(state.timer)
    },
  }
}

function addCount<T>({ needs, waiting }: BufferState<T>, count: T): void {
  const key = needs.toKey(count)
  const known = waiting.get(key)
  if (known) needs.merge(known, count)
  else if (waiting.size < needs.waitingMax) waiting.set(key, count)
  else if (needs.toOverflow) {
    const overflow = needs.toOverflow(count)
    const overflowKey = needs.toKey(overflow)
    const other = waiting.get(overflowKey)
    if (other) needs.merge(other, overflow)
    else waiting.set(overflowKey, overflow)
  }
}

function scheduleFlush<T>(state: BufferState<T>): void {
  if (state.timer !== undefined || state.closed) return
  state.timer = setTimeout(() => flush(state), state.needs.everyMs)
}

function flush<T>(state: BufferState<T>): Promise<void> {
  state.flushing ??= writeWaiting(state).finally(() => {
    state.flushing = undefined
    if (state.waiting.size > 0) scheduleFlush(state)
  })
  return state.flushing
}

/** Writes all waiting counts, or until the database is unavailable. */
async function writeWaiting<T>(state: BufferState<T>): Promise<void> {
  const { name, store } = state.needs
  clearTimeout(state.timer)
  state.timer = undefined
  while (state.waiting.size > 0) {
    const counts = takeCounts(state)
    try {
      await store(counts)
    } catch (error) {
      const failure = toFailure(error)
      if (!(failure instanceof Failure && failure.code === 'unavailable')) {
        // A retry would fail again, and all later counts would wait.
        log.error(`${name}_lost`, { kinds: counts.length, ...describeError(error) })
        continue
      }
      if (!state.degraded) log.warn(`${name}_wait`, describeError(error))
      state.degraded = true
      // A commit without an answer may have succeeded. Its counts are then stored twice, which is better than losing them.
      for (const count of counts) addCount(state, count)
      return
    }
    if (state.degraded) log.info(`${name}_go_on`)
    state.degraded = false
  }
}

/** Takes the next counts out of the buffer. */
function takeCounts<T>({ waiting }: BufferState<T>): T[] {
  const counts: T[] = []
  for (const [key, count] of waiting) {
    waiting.delete(key)
    if (counts.push(count) === PER_WRITE) break
  }
  return counts
}
