// The server's side of the reader: starts the child process with the first task, and ends it.

import { join } from 'node:path'
import { type ChildProcess, startChild } from '../../../lib/child-process.ts'
import { getLogFormat, getLogLevel } from '../../../lib/log.ts'
import { FileProblem } from '../files/source-file.ts'
import type { MessageFromReader, MessageToReader, ReaderTaskName, ReaderTasks } from './protocol.ts'

/** The child process has ended in the middle of a task, or was stuck. */
export class ReaderLost extends Error {}

/**
 * A reader counts as stuck if its event loop does not turn for this long. Between two turns it reads 64 KiB of a file, in
 * milliseconds. It also turns while it waits for the server, so a slow server does not make it stuck.
 */
export const READER_DEADLINE_MS = 60_000
/** Watchdog ticks per deadline. Ticks are counted, not time, so that a stalled server does not kill its reader. */
const TICKS = 6

export interface Reader {
  /**
   * Runs one task at a time. @param onBatch if it throws, the task and the process end with this error
   * @throws FileProblem, ReaderLost, and the reason of `signal`
   */
  run<Name extends ReaderTaskName>(
    name: Name,
    input: ReaderTasks[Name]['input'],
    onBatch: (batch: ReaderTasks[Name]['batch']) => Promise<ReaderTasks[Name]['reply']>,
  ): Promise<ReaderTasks[Name]['result']>
  /** Kills the process. */
  close(): void
}

interface Task {
  onBatch: (batch: never) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
  /** The batch that the server is storing. The task ends after it, so that no new task begins before. */
  batch?: Promise<unknown>
}

type ReaderProcess = ChildProcess<MessageToReader>

/** Starts a reader. `onExit` is called once, however the reader ends. */
export type StartReader = (listener: {
  onMessage(message: MessageFromReader): void
  onExit(end: string | number | null): void
}) => ReaderProcess

export interface ReaderNeeds {
  /** A reader without a turn of its event loop for this long counts as stuck. */
  deadlineMs?: number
  startReader?: StartReader
}

/** @param signal ends the process and the running task */
export function openReader(needs: ReaderNeeds = {}, signal?: AbortSignal): Reader {
  let child: ReaderProcess | undefined
  let task: Task | undefined

  function endTask(): Task | undefined {
    const ended = task
    task = undefined
    return ended
  }

  function kill() {
    child?.kill()
    child = undefined
  }

  function fail(error: unknown) {
    const ended = endTask()
    kill()
    void Promise.allSettled([ended?.batch]).then(() => ended?.reject(error))
  }

  async function receive(message: MessageFromReader) {
    if (message.type === 'result') endTask()?.resolve(message.result as never)
    else if (message.type === 'problem') endTask()?.reject(new FileProblem(message.message))
    else if (message.type === 'error') fail(new Error(message.message))
    else if (message.type === 'batch') {
      const current = task
      try {
        if (!current) return
        current.batch = current.onBatch(message.batch as never)
        const value = await current.batch
        if (task === current) child?.post({ type: 'reply', value })
      } catch (error) {
        if (task === current) fail(error)
      }
    }
  }

  const onAbort = () => fail(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    async run(name, input, onBatch) {
      signal?.throwIfAborted()
      if (task) throw new Error('the reader runs one task at a time')
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      task = { onBatch: onBatch as Task['onBatch'], resolve, reject }
      child ??= startWatched(needs, receive, (started, reason) => {
        // A process that was killed on purpose can exit after its successor has started.
        if (child === started) fail(reason)
      })
      child.post({ type: 'task', name, input })
      return promise
    },
    close() {
      signal?.removeEventListener('abort', onAbort)
      fail(new ReaderLost('The reader is closed'))
    },
  }
}

function startWatched(
  { deadlineMs = READER_DEADLINE_MS, startReader = startReaderProcess }: ReaderNeeds,
  receive: (message: MessageFromReader) => Promise<void>,
  onEnd: (child: ReaderProcess, reason: ReaderLost) => void,
): ReaderProcess {
  let quietTicks = 0
  const child = startReader({
    onMessage(message) {
      quietTicks = 0
      void receive(message)
    },
    onExit(end) {
      clearInterval(watch)
      onEnd(child, new ReaderLost(`The reader ended with ${end}`))
    },
  })
  const watch = setInterval(() => {
    if (++quietTicks > TICKS) onEnd(child, new ReaderLost(`The reader was stuck for ${deadlineMs} ms`))
  }, deadlineMs / TICKS)
  child.post({ type: 'settings', settings: { logLevel: getLogLevel(), logFormat: getLogFormat() } })
  return child
}

const startReaderProcess: StartReader = (listener) =>
  startChild({
    command: [process.execPath, join(import.meta.dir, 'main.ts')],
    // Without the server's environment, which it does not need. The garbage collector runs early, as on a machine of 256 MB: on a
    // large machine a history of a million clicks took 60 MB more.
    env: { BUN_JSC_forceRAMSize: String(256 * 1024 ** 2) },
    ...listener,
  })
