// Keeps a hit engine open and fed: loads every batch above its mark, in order, and opens it again when it died.
// Questions go to it at any time; while there is none they fail as unavailable.

import { unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Batch, HitEngine } from '../../../storage/hits/hit-engine.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** So often in a row a batch is refused before somebody looks at it. */
const REFUSALS_BEFORE_REPAIR = 3

export interface EngineSupervisor {
  /** Something asked of the engine. @throws `unavailable` while there is none, or when it dies of it */
  use<T>(work: (engine: HitEngine) => Promise<T>): Promise<T>
  /** Something done to its file: it is closed before and opened again afterwards. */
  runOffline(work: () => Promise<void>): Promise<void>
  /** To be called when there are new batches. */
  wake(): void
  /** The last batch of a node that the engine is known to hold. */
  mark(node: string): number
  isUp(): boolean
  /** Resolves when it was opened for the first time, or that has failed. */
  firstAttempt: Promise<void>
  /** Resolves when everything is loaded, or when that cannot be now. */
  settled(): Promise<void>
  backup(path: string): Promise<void>
  close(): Promise<void>
}

export function openEngineSupervisor(options: {
  open(): Promise<HitEngine>
  /** This node, whose mark is known as soon as the engine is open. */
  node: string
  /** Every node's batches in order; asked again at each turn. */
  batches(): (readonly Batch[])[]
  /** Looks at a batch that the engine keeps refusing; true when it was damaged and now can be loaded. */
  repair(batch: Batch): Promise<boolean>
  onChange(): void
}): EngineSupervisor {
  const { open, node, batches, repair, onChange } = options
  const marks = new Map<string, number>()
  let engine: HitEngine | null = null
  let closed = false
  let degraded = false
  let refused: { batch: Batch; times: number } | null = null
  let pauseMs = FIRST_PAUSE_MS
  let broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  let bell = Promise.withResolvers<void>()
  const tried = Promise.withResolvers<void>()
  const waiting: (() => void)[] = []
  const offline: { work(): Promise<void>; resolve(): void; reject(error: unknown): void }[] = []

  const ring = () => bell.resolve()
  const allLoaded = () =>
    batches().every((list) => {
      const last = list.at(-1)
      return !last || (marks.get(last.node) ?? 0) >= last.number
    })
  const answerWaiting = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }

  async function pause() {
    const timer = Promise.withResolvers<void>()
    const handle = setTimeout(timer.resolve, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    stopPause = timer.resolve
    await timer.promise
    clearTimeout(handle)
  }
  let stopPause = () => {}

  /** Whether the engine still answers anything. A bad question or batch fails alone; a dead engine fails them all. */
  async function isAlive(asked: HitEngine): Promise<boolean> {
    try {
      await asked.mark('')
      return true
    } catch {
      return false
    }
  }

  async function loadOne(up: HitEngine, batch: Batch) {
    try {
      await Promise.race([up.load(batch), broken.promise])
      refused = null
    } catch (error) {
      refused = { batch, times: refused?.batch.path === batch.path ? refused.times + 1 : 1 }
      throw error
    }
  }

  /** Whether the batch that was refused can be loaded now. */
  async function repairRefused(): Promise<boolean> {
    if (!refused || refused.times < REFUSALS_BEFORE_REPAIR) return false
    try {
      return await repair(refused.batch)
    } catch (error) {
      log.error('hit_batch_not_repaired', describeError(error))
      return false
    }
  }

  async function loadAll(up: HitEngine) {
    for (const list of batches()) {
      const node = list[0]?.node
      if (node === undefined) continue
      let mark = marks.get(node) ?? (await up.mark(node))
      marks.set(node, mark)
      // A copy: the list is pruned and added to meanwhile.
      for (const batch of list.filter(({ number }) => number > mark)) {
        if (closed || offline.length > 0) return
        if (batch.number > mark + 1) {
          log.error('hit_batches_missing', { node, from: mark + 1, through: batch.number - 1 })
          await up.skip(node, batch.number - 1)
        }
        await loadOne(up, batch)
        mark = batch.number
        marks.set(node, mark)
        onChange()
      }
    }
  }

  /** Feeds the engine until it dies (throws) or is to be closed. */
  async function feed(up: HitEngine) {
    while (!closed && offline.length === 0) {
      bell = Promise.withResolvers<void>()
      try {
        await loadAll(up)
        degraded = false
        pauseMs = FIRST_PAUSE_MS
      } catch (error) {
        if (!(await isAlive(up))) throw error
        degraded = true
        log.error('hit_batch_not_loaded', describeError(error))
        if (await repairRefused()) continue
        answerWaiting()
        await pause()
        continue
      }
      if (allLoaded()) answerWaiting()
      await Promise.race([bell.promise, broken.promise])
    }
  }

  async function doOffline() {
    for (let job = offline[0]; job && !closed; job = offline[0]) {
      await job.work().then(job.resolve, job.reject)
      offline.shift()
    }
  }

  async function run() {
    while (!closed) {
      await doOffline()
      broken = Promise.withResolvers<never>()
      broken.promise.catch(() => undefined)
      let up: HitEngine | null = null
      try {
        up = await open()
        marks.clear()
        marks.set(node, await up.mark(node))
        engine = up
        tried.resolve()
        onChange()
        await feed(up)
      } catch (error) {
        log.error('hit_engine_down', describeError(error))
        tried.resolve()
      }
      engine = null
      onChange()
      answerWaiting()
      await up?.close().catch((error) => log.error('hit_engine_close_failed', describeError(error)))
      if (!closed && offline.length === 0) await pause()
    }
    for (const { reject } of offline) reject(unavailable('The hit engine is closed', 1))
  }

  const running = run()

  return {
    async use(work) {
      const used = engine
      if (!used) throw unavailable('The hit engine is away', 1)
      try {
        return await work(used)
      } catch (error) {
        if (engine === used && (await isAlive(used))) throw error
        broken.reject(error)
        throw unavailable(error, 1)
      }
    },
    runOffline: (work) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable('The hit engine is closed', 1))
        offline.push({ work, resolve, reject })
        ring()
        stopPause()
      }),
    wake: ring,
    mark: (node) => marks.get(node) ?? 0,
    isUp: () => engine !== null,
    firstAttempt: tried.promise,
    settled: () =>
      new Promise((resolve) => {
        if (closed || degraded || allLoaded()) return resolve()
        waiting.push(resolve)
        ring()
      }),
    async backup(path) {
      if (!engine) throw unavailable('The hit engine is away')
      await engine.backup(path)
    },
    async close() {
      closed = true
      ring()
      stopPause()
      await running
      answerWaiting()
    },
  }
}
