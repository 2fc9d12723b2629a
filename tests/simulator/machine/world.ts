// The world of one history: its clock, its random choices, and the steps that wait. Nothing in it runs by itself: the world
// takes one step after another, in an order that follows from the seed alone.

import { drainMicrotasks } from 'bun:jsc'
import { crc32 } from 'node:zlib'
import { createRandom } from '../../support/random.ts'

/** Noon, so that a jump of the clock of some hours stays within the day. */
const EPOCH = Date.UTC(2026, 0, 15, 12)

interface Step {
  at: number
  order: number
  label: string
  run(): void
}

export interface World {
  readonly seed: number
  /** Monotonic milliseconds since the beginning of the history. */
  now(): number
  /** The wall clock of this world. */
  wallClock(): number
  /** Sets the clocks of the world forward or back. */
  jumpClock(ms: number): void
  /** A number from 0 up to 1. */
  random(): number
  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Plans a step. @returns cancels it */
  plan(delayMs: number, label: string, run: () => void): () => void
  /** Adds a line to the log of events. */
  note(text: string): void
  /** Adds a line of the product's own log, which a history that keeps no log does not write. */
  print(text: string): void
  /** Takes steps until `isOver`, or until this moment. @returns whether it is over */
  runUntil(isOver: () => boolean, latest: number): boolean
  /** Equal histories have equal fingerprints: of all steps and notes. */
  fingerprint(): string
  /** The log; empty unless the history keeps one. */
  readonly log: string[]
}

/** @param keepsLog a log takes as long as the history */
export function createWorld(seed: number, purpose: string, keepsLog = false): World {
  const random = createRandom(purpose, seed)
  const queue: Step[] = []
  const log: string[] = []
  let now = 0
  let ahead = 0
  let planned = 0
  let hash = 0

  function note(text: string) {
    hash = crc32(text, hash)
    print(text)
  }

  function print(text: string) {
    if (keepsLog) log.push(`${now.toFixed(3).padStart(10)} ${text}`)
  }

  function takeStep() {
    const step = removeFirst(queue)
    if (!step) throw new Error('Nothing happens any more')
    now = Math.max(now, step.at)
    hash = crc32(step.label, (hash ^ step.order ^ (now * 1000)) >>> 0)
    step.run()
    drainMicrotasks()
  }

  const world: World = {
    seed,
    now: () => now,
    wallClock: () => Math.floor(EPOCH + now + ahead),
    jumpClock(ms) {
      ahead += ms
    },
    random,
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
    chance: (probability) => random() < probability,
    pick: <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T,
    plan(delayMs, label, run) {
      const step = { at: now + delayMs, order: ++planned, label, run }
      insert(queue, step)
      return () => {
        step.run = () => {}
      }
    },
    note,
    print,
    runUntil(isOver, latest) {
      while (!isOver()) {
        if (now > latest) return false
        takeStep()
      }
      return true
    },
    fingerprint: () => `${planned}-${(hash >>> 0).toString(16)}`,
    log,
  }
  return world
}

/** Steps of one moment run in the order in which they were planned. Their moments are random. */
const isEarlier = (a: Step, b: Step) => a.at < b.at || (a.at === b.at && a.order < b.order)

/** A binary heap. */
function insert(heap: Step[], step: Step) {
  let at = heap.push(step) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isEarlier(step, heap[parent] as Step)) break
    heap[at] = heap[parent] as Step
    at = parent
  }
  heap[at] = step
}

function removeFirst(heap: Step[]): Step | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isEarlier(heap[child + 1] as Step, heap[child] as Step)) child++
    if (!isEarlier(heap[child] as Step, last)) break
    heap[at] = heap[child] as Step
    at = child
  }
  heap[at] = last
  return first
}
