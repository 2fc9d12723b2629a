// Moves SQLite's log into the database file: a thread does the work, and the writer waits for it only when the log is long.
// The log is emptied every few minutes, because it has copies of erased rows (docs/adr/0041-checkpoints.md).

import { statSync } from 'node:fs'
import { describeError, log } from '../../../lib/log.ts'

/** Interval of checkpoints. All commits of an interval share one. */
const CHECKPOINT_EVERY_MS = 1_000
/**
 * From this length (16 MB) the writer waits for the end of a checkpoint, so that the log can restart. The wait is short,
 * because all but the newest pages are already in the file.
 */
const RESTART_PAGES = 4_000
const EMPTY_EVERY_MS = 5 * 60_000
/** The thread is asked again after this time if a checkpoint fails. */
const PAUSE_AFTER_FAILURE_MS = 5_000

export interface CheckpointRequest {
  path: string
  /** PASSIVE waits for no other connection. TRUNCATE empties the log, and needs that no other connection reads or writes. */
  mode: 'PASSIVE' | 'TRUNCATE'
}

export interface CheckpointAnswer {
  /** The file has all pages of the log. */
  isComplete: boolean
  logPages: number
  sizes: DatabaseSizes
}

export interface DatabaseSizes {
  bytes: number
  /** The part of `bytes` that deletions have freed. Later rows use it. */
  freeBytes: number
  walBytes: number
}

export interface CheckpointerNeeds {
  path: string
  /** Runs `work` between two transactions. */
  pauseWrites: (work: () => Promise<void>) => Promise<void>
  emptyEveryMs?: number
  everyMs?: number
  restartPages?: number
}

export interface Checkpointer {
  /** Call it after each commit. It only sets a timer. */
  noteCommit(): void
  /** At the last checkpoint; undefined before the first one. */
  sizes(): DatabaseSizes | undefined
  close(): Promise<void>
}

interface State extends CheckpointerNeeds {
  thread: FileThread<CheckpointRequest, CheckpointAnswer>
  timer: Timer | undefined
  running: Promise<void> | undefined
  /** There was a commit after the start of the last checkpoint. */
  behind: boolean
  emptyingDue: boolean
  sizes: DatabaseSizes | undefined
  failing: boolean
  closed: boolean
}

export function openCheckpointer(needs: CheckpointerNeeds): Checkpointer {
  const state: State = {
    ...needs,
    thread: createFileThread(new URL('checkpoint-thread.ts', import.meta.url)),
    timer: undefined,
    running: undefined,
    behind: false,
    emptyingDue: false,
    sizes: undefined,
    failing: false,
    closed: false,
  }
  const emptying = setInterval(() => {
    // Commands of the operator write too, so only the size of the file shows whether there is something to empty.
    if (!statSync(`${needs.path}-wal`, { throwIfNoEntry: false })?.size) return
    state.emptyingDue = true
    schedule(state, 0)
  }, needs.emptyEveryMs ?? EMPTY_EVERY_MS)
  return {
    noteCommit() {
      state.behind = true
      schedule(state, state.everyMs ?? CHECKPOINT_EVERY_MS)
    },
    sizes: () => state.sizes,
    async close() {
      state.closed = true
      clearInterval(emptying)
      clearTimeout(state.timer)
      await state.running
      await state.thread.close()
    },
  }
}

function schedule(state: State, inMs: number): void {
  if (state.closed || state.timer !== undefined) return
  state.timer = setTimeout(() => {
    state.running = runCheckpoints(state).then((nextMs) => {
      state.running = undefined
      state.timer = undefined
      if (nextMs !== undefined) schedule(state, nextMs)
    })
  }, inMs)
}

/** @returns when to continue; undefined if nothing is left to do */
async function runCheckpoints(state: State): Promise<number | undefined> {
  state.behind = false
  try {
    const { logPages } = await checkpoint(state, 'PASSIVE')
    // The log cannot be emptied while another process reads it. The next checkpoint tries again.
    if (state.emptyingDue) state.emptyingDue = !(await finish(state, 'TRUNCATE'))
    else if (logPages > (state.restartPages ?? RESTART_PAGES)) await finish(state, 'PASSIVE')
    if (state.failing) log.info('sqlite_checkpoints_go_on')
    state.failing = false
    return state.behind ? (state.everyMs ?? CHECKPOINT_EVERY_MS) : undefined
  } catch (error) {
    // The log grows meanwhile; from 256 MB on, the writer does the work itself.
    if (!state.failing) log.warn('sqlite_checkpoint_failed', describeError(error))
    state.failing = true
    return PAUSE_AFTER_FAILURE_MS
  }
}

/** Pauses writes, so that the checkpoint can reach the end of the log. @returns true if it did */
async function finish(state: State, mode: CheckpointRequest['mode']): Promise<boolean> {
  let isComplete = false
  await state.pauseWrites(async () => {
    isComplete = (await checkpoint(state, mode)).isComplete
  })
  return isComplete
}

async function checkpoint(state: State, mode: CheckpointRequest['mode']): Promise<CheckpointAnswer> {
  const answer = await state.thread.ask({ path: state.path, mode })
  state.sizes = answer.sizes
  return answer
}

/** The thread's answer if its work has failed. */
interface ThreadError {
  error: string
}

interface FileThread<Request, Answer> {
  /** One request at a time. @throws when the work fails, or the thread ends */
  ask(request: Request): Promise<Answer>
  /** Ends the thread. Call it when no request is running. */
  close(): Promise<void>
}

/**
 * A thread for disk work that would block the event loop. It starts with the first request. If it ends, the next request
 * starts a new one.
 */
function createFileThread<Request, Answer extends object>(script: URL): FileThread<Request, Answer> {
  let thread: Worker | undefined
  let fail = (_problem: string) => {}

  function start(): Worker {
    const started = new Worker(script.href, { smol: true })
    // The thread does not keep the process alive.
    started.unref()
    const lose = (problem: string) => {
      if (thread === started) thread = undefined
      fail(problem)
    }
    started.addEventListener('error', ({ message }) => lose(message))
    started.addEventListener('close', () => lose('the thread has ended'))
    return started
  }

  return {
    ask(request) {
      thread ??= start()
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      fail = (problem) => reject(new Error(problem))
      thread.onmessage = ({ data }: MessageEvent<Answer | ThreadError>) =>
        'error' in data ? reject(new Error(data.error)) : resolve(data)
      thread.postMessage(request)
      return promise
    },
    async close() {
      if (!thread) return
      const ended = Promise.withResolvers<void>()
      fail = () => ended.resolve()
      // Keeps the process alive until the thread has ended, because the caller continues after that.
      thread.ref()
      thread.postMessage('close')
      await ended.promise
    },
  }
}
