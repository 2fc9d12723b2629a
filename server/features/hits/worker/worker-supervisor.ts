// Keeps a ship worker while there is something to do: starts one, another when it dies, lets it go when it is idle, and
// starts one again for the next hit or question.

import { describeError, log } from '../../../lib/log.ts'
import { startWorkerProcess, type WorkerProcess } from './ipc.ts'
import type { MessageFromWorker, MessageToWorker, WorkerSettings } from './protocol.ts'

const CLOSE_TIMEOUT_MS = 20_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000

type WorkerState = 'up' | 'leaving' | 'asleep' | 'lost' | 'closed'

export interface WorkerSupervisor {
  /** What matters only to one that runs. False when it was told to nobody. */
  sendIfRunning(message: MessageToWorker): boolean
  /** What must be answered: one that sleeps is woken, and then told by `onStart`. False while one that died is missing. */
  sendOrWake(message: MessageToWorker): boolean
  isLost(): boolean
  restarts(): number
  /** Ends it, when everything recorded is shipped. */
  close(): Promise<void>
}

export function openWorkerSupervisor(options: {
  settings(): WorkerSettings
  receive(message: MessageFromWorker): void
  /** Whether somebody waits for an answer: then it is not let go. */
  isAwaited(): boolean
  /** Whether something waits to be shipped; asked every `lookEveryMs` while it sleeps. */
  isBehind(): boolean
  lookEveryMs: number
  /** There has never been anything to do: the first is started for the first hit or question. */
  isNew: boolean
  /** One was started: whatever is waited for is to be requested again. */
  onStart(): void
  onLost(error: unknown): void
  /** There has been nothing to do for a while. */
  onAsleep(): void
}): WorkerSupervisor {
  const { receive, isAwaited, isBehind } = options
  let state: WorkerState = options.isNew ? 'asleep' : 'lost'
  let worker: WorkerProcess | undefined
  let gone = Promise.withResolvers<void>()
  let closing: Promise<void> | undefined
  let restarts = 0
  let pauseMs = FIRST_PAUSE_MS
  let restartTimer: Timer | undefined

  function start() {
    gone = Promise.withResolvers()
    try {
      const started = startWorkerProcess(options.settings(), {
        message: (message) => worker === started && hear(message),
        ended: (reason) => worker === started && ended(reason),
      })
      worker = started
    } catch (error) {
      return lose(error)
    }
    state = 'up'
    options.onStart()
  }

  function hear(message: MessageFromWorker) {
    if (message.type === 'closed') return worker?.kill()
    if (message.type === 'idle') return isAwaited() || closing ? undefined : letGo()
    // It says that its engine is closed: as far as anybody is concerned, it answers.
    if (message.type === 'progress' && state === 'leaving') return
    if (message.type === 'progress' && message.progress.engineUp) pauseMs = FIRST_PAUSE_MS
    receive(message)
  }

  function letGo() {
    if (state !== 'up') return
    state = 'leaving'
    void dismiss()
  }

  /** Asks it to end, and ends it where it does not. */
  async function dismiss() {
    const dismissed = worker
    dismissed?.post({ type: 'close' })
    const late = setTimeout(() => {
      log.error('ship_worker_not_closed', { afterMs: CLOSE_TIMEOUT_MS })
      dismissed?.kill()
    }, CLOSE_TIMEOUT_MS)
    await gone.promise
    clearTimeout(late)
  }

  function ended(reason: Error) {
    worker = undefined
    // Of this one: a next one, started below, is gone when it is.
    gone.resolve()
    if (closing) state = 'closed'
    else if (state === 'leaving') {
      state = 'asleep'
      if (isAwaited() || isBehind()) start()
      else options.onAsleep()
    } else lose(reason)
  }

  function lose(error: unknown) {
    state = 'lost'
    restarts++
    log.error('ship_worker_lost', { restartInMs: pauseMs, ...describeError(error) })
    options.onLost(error)
    restartTimer = setTimeout(start, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }

  async function close() {
    clearInterval(look)
    if (state === 'leaving') await gone.promise
    // An address must not stay in the spool until the next start.
    if (worker === undefined && state !== 'lost' && isBehind()) start()
    clearTimeout(restartTimer)
    if (worker) await dismiss()
    state = 'closed'
  }

  const look = setInterval(() => {
    if (state === 'asleep' && isBehind()) start()
  }, options.lookEveryMs)
  const tell = (message: MessageToWorker) => {
    if (state === 'up') worker?.post(message)
    return state === 'up'
  }
  if (!options.isNew) start()
  return {
    sendIfRunning: tell,
    sendOrWake(message) {
      if (state === 'asleep' && !closing) start()
      else tell(message)
      return state === 'up' || state === 'leaving'
    },
    isLost: () => state === 'lost',
    restarts: () => restarts,
    close() {
      closing ??= close()
      return closing
    },
  }
}
