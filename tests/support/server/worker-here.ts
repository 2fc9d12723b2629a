// Runs the hit worker in the process of the test. Only tests of the process itself need a process: kills, priority,
// traces, and faults of native code.

import type { StartWorker } from '../../../server/features/hits/worker/ipc.ts'
import type { MessageFromWorker, MessageToWorker } from '../../../server/features/hits/worker/protocol.ts'
import { type RunningWorker, runWorker } from '../../../server/features/hits/worker/run-worker.ts'
import { runForNobody } from '../../../server/lib/telemetry/request-context.ts'
import { lockForWorker } from '../../../server/storage/lock.ts'
import { writeEmptyHitFile } from '../migrated-database.ts'

export interface WorkerHere {
  start: StartWorker
  /** Holds all messages, as a process that is stopped does. */
  pause(): void
  resume(): void
  /** Ends the worker as an unexpected error does. The server starts another one after a moment. */
  fail(): void
}

/** Messages are copied and come a turn later, in both directions, as they do between processes. */
export function createWorkerHere(): WorkerHere {
  let held: (() => void)[] | undefined
  let current: RunningWorker | undefined
  const later = (work: () => void) =>
    runForNobody(() => setImmediate(() => (held ? held.push(work) : work())))

  const start: StartWorker = (settings, { onMessage, onExit }) => {
    let hasEnded = false
    let release = () => {}
    let handle: ((message: MessageToWorker) => void) | undefined
    const early: MessageToWorker[] = []
    function end(reason: string) {
      if (hasEnded) return
      hasEnded = true
      release()
      later(() => onExit(new Error(reason)))
    }
    async function run() {
      const lock = await lockForWorker(settings.dataDir)
      release = lock.release
      if (!settings.clickHouseUrls) await writeEmptyHitFile(settings.dataDir)
      current = await runWorker({
        settings: structuredClone(settings),
        send(message: MessageFromWorker) {
          const copy = structuredClone(message)
          later(() => hasEnded || onMessage(copy))
        },
        onMessage(listener) {
          handle = listener
          for (const message of early.splice(0)) listener(message)
        },
        onFailed: () => current?.release().finally(() => end('The hit worker failed')),
      })
    }
    run().catch((error) => end(`The hit worker did not start: ${error}`))
    return {
      post(message) {
        const copy = structuredClone(message)
        later(() => (handle ? handle(copy) : early.push(copy)))
      },
      /** A closed worker leaves nothing behind. */
      kill: () => end('The hit worker was closed'),
    }
  }

  return {
    start,
    pause() {
      held ??= []
    },
    resume() {
      const works = held ?? []
      held = undefined
      for (const work of works) work()
    },
    fail: () => current?.fail(new Error('A test makes the hit worker fail')),
  }
}

export const startWorkerHere: StartWorker = createWorkerHere().start
