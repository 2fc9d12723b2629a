// Supervises the hit worker: starts it for a hit or a question, ends it when it is idle, and starts another one after a crash.

import { type Backoff, createBackoff } from '../../../lib/concurrency/backoff.ts'
import { describeError, log } from '../../../lib/log.ts'
import { runForNobody } from '../../../lib/telemetry/request-context.ts'
import type { StartWorker, WorkerProcess } from './ipc.ts'
import type { MessageFromWorker, MessageToWorker, WorkerSettings } from './protocol.ts'

const CLOSE_TIMEOUT_MS = 20_000

/** `leaving`: closing, and has not exited yet. `lost`: exited unexpectedly, and starts again after a pause. */
type WorkerStatus = 'up' | 'leaving' | 'asleep' | 'lost' | 'closed'

export interface WorkerSupervisor {
  /** Sends a message that only a running worker needs. @returns false if no worker runs */
  sendIfRunning(message: MessageToWorker): boolean
  /**
   * Sends a message that needs an answer. If no worker runs, it starts one, and `onStart` sends the message.
   * @returns false during the pause after a crash
   */
  sendOrWake(message: MessageToWorker): boolean
  isLost(): boolean
  restarts(): number
  /** Ends the worker once all recorded hits are shipped. */
  close(): Promise<void>
}

export interface WorkerSupervisorOptions {
  start: StartWorker
  settings(): WorkerSettings
  receive(message: MessageFromWorker): void
  /** @returns true if an answer of the worker is awaited: then it is not ended */
  isAwaited(): boolean
  /** @returns true if hits wait to be shipped. Called every `pollEveryMs` while no worker runs. */
  isBehind(): boolean
  pollEveryMs: number
  /** True for a new installation without hits: its first worker starts with the first hit or question. */
  isNew: boolean
  /** Called after a start, to repeat all calls that wait for an answer. */
  onStart(): void
  onLost(error: unknown): void
  /** Called when an idle worker has exited. */
  onAsleep(): void
}

interface SupervisorState {
  readonly options: WorkerSupervisorOptions
  readonly backoff: Backoff
  status: WorkerStatus
  worker: WorkerProcess | undefined
  /** Resolves when the current worker exits. `startWorker` makes a new promise. */
  exited: PromiseWithResolvers<void>
  closing: Promise<void> | undefined
  restarts: number
  restartTimer: Timer | undefined
}

export function openWorkerSupervisor(options: WorkerSupervisorOptions): WorkerSupervisor {
  const supervisor: SupervisorState = {
    options,
    backoff: createBackoff(),
    status: options.isNew ? 'asleep' : 'lost',
    worker: undefined,
    exited: Promise.withResolvers(),
    closing: undefined,
    restarts: 0,
    restartTimer: undefined,
  }
  const pollTimer = setInterval(() => {
    if (supervisor.status === 'asleep' && options.isBehind()) startWorker(supervisor)
  }, options.pollEveryMs)
  if (!options.isNew) startWorker(supervisor)
  return {
    sendIfRunning: (message) => sendIfRunning(supervisor, message),
    sendOrWake(message) {
      if (supervisor.status === 'asleep' && !supervisor.closing) startWorker(supervisor)
      else sendIfRunning(supervisor, message)
      return supervisor.status === 'up' || supervisor.status === 'leaving'
    },
    isLost: () => supervisor.status === 'lost',
    restarts: () => supervisor.restarts,
    close() {
      clearInterval(pollTimer)
      supervisor.closing ??= closeSupervisor(supervisor)
      return supervisor.closing
    },
  }
}

function startWorker(supervisor: SupervisorState) {
  const { options } = supervisor
  supervisor.exited = Promise.withResolvers()
  try {
    // Messages of a replaced worker are ignored.
    const started: WorkerProcess = runForNobody(() =>
      options.start(options.settings(), {
        onMessage: (message) => supervisor.worker === started && handleMessage(supervisor, message),
        onExit: (reason) => supervisor.worker === started && handleExit(supervisor, reason),
      }),
    )
    supervisor.worker = started
  } catch (error) {
    return scheduleRestart(supervisor, error)
  }
  supervisor.status = 'up'
  options.onStart()
}

function sendIfRunning({ status, worker }: SupervisorState, message: MessageToWorker): boolean {
  if (status === 'up') worker?.post(message)
  return status === 'up'
}

function handleMessage(supervisor: SupervisorState, message: MessageFromWorker) {
  const { options } = supervisor
  if (message.type === 'closed') return supervisor.worker?.kill()
  if (message.type === 'idle') {
    if (!options.isAwaited() && !supervisor.closing) letGo(supervisor)
    return
  }
  // A leaving worker reports a closed engine, but for the server's callers the engine still answers.
  if (message.type === 'progress' && supervisor.status === 'leaving') return
  if (message.type === 'progress' && message.progress.engineUp) supervisor.backoff.reset()
  options.receive(message)
}

function letGo(supervisor: SupervisorState) {
  if (supervisor.status !== 'up') return
  supervisor.status = 'leaving'
  void endWorker(supervisor)
}

/** Asks the worker to close, and kills it if it does not close in time. */
async function endWorker({ worker, exited }: SupervisorState) {
  worker?.post({ type: 'close' })
  const killTimer = setTimeout(() => {
    log.error('ship_worker_not_closed', { afterMs: CLOSE_TIMEOUT_MS })
    worker?.kill()
  }, CLOSE_TIMEOUT_MS)
  await exited.promise
  clearTimeout(killTimer)
}

function handleExit(supervisor: SupervisorState, reason: Error) {
  const { options } = supervisor
  supervisor.worker = undefined
  // Resolved before the start below, which creates a new promise.
  supervisor.exited.resolve()
  if (supervisor.closing) supervisor.status = 'closed'
  else if (supervisor.status === 'leaving') {
    supervisor.status = 'asleep'
    if (options.isAwaited() || options.isBehind()) startWorker(supervisor)
    else options.onAsleep()
  } else scheduleRestart(supervisor, reason)
}

function scheduleRestart(supervisor: SupervisorState, error: unknown) {
  const restartInMs = supervisor.backoff.nextMs()
  supervisor.status = 'lost'
  supervisor.restarts++
  log.error('ship_worker_lost', { restartInMs, ...describeError(error) })
  supervisor.options.onLost(error)
  supervisor.restartTimer = setTimeout(() => startWorker(supervisor), restartInMs)
}

async function closeSupervisor(supervisor: SupervisorState) {
  if (supervisor.status === 'leaving') await supervisor.exited.promise
  // Addresses must not stay in the spool until the next start.
  if (supervisor.worker === undefined && supervisor.status !== 'lost' && supervisor.options.isBehind())
    startWorker(supervisor)
  clearTimeout(supervisor.restartTimer)
  if (supervisor.worker) await endWorker(supervisor)
  supervisor.status = 'closed'
}
