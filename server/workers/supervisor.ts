// Runs several server processes on the ports of one machine (WORKERS): starts them, starts another when one ends, passes
// metrics between them, and stops them in order. It answers no request itself.

import { type ChildProcess, startChild } from '../lib/child-process.ts'
import { type Backoff, createBackoff } from '../lib/concurrency/backoff.ts'
import { log } from '../lib/log.ts'
import type { MessageFromSupervisor, MessageToSupervisor } from './worker-channel.ts'

export interface SupervisorNeeds {
  count: number
  /** The command of a worker, by its number from 1. */
  toCommand(worker: number): string[]
  /** Called when all workers listen for the first time. */
  onReady(text: string): void
}

export interface Supervisor {
  /**
   * Resolves when all workers have ended after `stop`, with the exit code for the supervisor.
   * Resolves with a sentence for the operator where a worker cannot start before all were ready once.
   */
  readonly ended: Promise<{ exitCode: number; sentence?: string }>
  /** Stops all workers in order. */
  stop(): void
  /** Ends all workers at once. */
  kill(): void
}

/** After a worker was ready for this long, the next pause is short again. */
const STEADY_MS = 10_000

/** `lost`: crashed, and is restarted after a pause. */
type WorkerStatus = 'unstarted' | 'starting' | 'ready' | 'lost' | 'ended'

interface Worker {
  readonly number: number
  readonly backoff: Backoff
  status: WorkerStatus
  child?: ChildProcess<MessageFromSupervisor>
  /** Set by the first start that was ready. */
  node?: string
  readyAtMs: number
  restartTimer?: Timer
}

interface State {
  readonly needs: SupervisorNeeds
  readonly workers: Worker[]
  readonly ended: PromiseWithResolvers<{ exitCode: number; sentence?: string }>
  /** All workers were ready once. */
  wasReady: boolean
  stopping: boolean
  exitCode: number
  /** Why a worker cannot start, before all were ready. */
  sentence?: string
}

export function startSupervisor(needs: SupervisorNeeds): Supervisor {
  const state: State = {
    needs,
    workers: Array.from({ length: needs.count }, (_, index) => ({
      number: index + 1,
      backoff: createBackoff(),
      status: 'unstarted',
      readyAtMs: 0,
    })),
    ended: Promise.withResolvers(),
    wasReady: false,
    stopping: false,
    exitCode: 0,
  }
  // The first worker starts alone: it runs the migrations, and reports problems that concern all.
  startWorker(state, state.workers[0] as Worker)
  return {
    ended: state.ended.promise,
    stop: () => stop(state),
    kill() {
      for (const { child } of state.workers) child?.kill()
    },
  }
}

function startWorker(state: State, worker: Worker): void {
  worker.status = 'starting'
  const child: Worker['child'] = startChild<MessageFromSupervisor, MessageToSupervisor>({
    command: state.needs.toCommand(worker.number),
    onMessage: (message) => worker.child === child && receive(state, worker, message),
    onExit: (end) => worker.child === child && handleExit(state, worker, end),
  })
  worker.child = child
}

function receive(state: State, worker: Worker, message: MessageToSupervisor): void {
  if (message.type === 'ready') handleReady(state, worker, message)
  else if (message.type === 'refused') handleRefusal(state, worker, message.sentence)
  else if (message.type === 'askMetrics') askForMetrics(state, worker, message.id)
  else {
    const { id, to, metrics } = message
    const asker = state.workers.find(({ number }) => number === to)
    if (asker) send(asker, { type: 'metrics', id, from: worker.number, metrics })
  }
}

const send = ({ child }: Worker, message: MessageFromSupervisor) => child?.post(message)

function handleReady(state: State, worker: Worker, { node, text }: { node: string; text: string }): void {
  worker.status = 'ready'
  worker.node = node
  worker.readyAtMs = performance.now()
  if (state.wasReady) return void log.info('worker_ready', { worker: worker.number, node })
  if (state.stopping) return
  for (const each of state.workers) if (each.status === 'unstarted') startWorker(state, each)
  if (!state.workers.every(({ status }) => status === 'ready')) return
  state.wasReady = true
  state.needs.onReady(text)
}

function handleRefusal(state: State, worker: Worker, sentence: string): void {
  if (state.wasReady) log.error('worker_cannot_start', { worker: worker.number, reason: sentence })
  else {
    state.sentence ??= sentence
    state.exitCode = 1
    stop(state)
  }
  worker.child?.kill()
}

function askForMetrics({ workers }: State, asker: Worker, id: number): void {
  const others = workers.filter((worker) => worker !== asker)
  for (const worker of others)
    if (worker.status === 'ready') send(worker, { type: 'metricsWanted', id, by: asker.number })
  const siblings = others.map(({ number, node, status }) => ({
    worker: number,
    node,
    isUp: status === 'ready',
  }))
  send(asker, { type: 'siblings', id, siblings })
}

function handleExit(state: State, worker: Worker, end: string | number | null): void {
  worker.child = undefined
  if (state.stopping) {
    worker.status = 'ended'
    if (end !== 0) state.exitCode = 1
    return void endWhenEmpty(state)
  }
  const wasSteady = worker.status === 'ready' && performance.now() - worker.readyAtMs >= STEADY_MS
  if (wasSteady) worker.backoff.reset()
  worker.status = 'lost'
  const restartInMs = worker.backoff.nextMs()
  log.error('worker_lost', { worker: worker.number, ended: String(end), restartInMs })
  worker.restartTimer = setTimeout(() => startWorker(state, worker), restartInMs)
}

function stop(state: State): void {
  if (state.stopping) return
  state.stopping = true
  for (const worker of state.workers) {
    clearTimeout(worker.restartTimer)
    if (worker.child) send(worker, { type: 'stop' })
    else worker.status = 'ended'
  }
  endWhenEmpty(state)
}

function endWhenEmpty({ workers, ended, exitCode, sentence }: State): void {
  if (workers.every(({ status }) => status === 'ended')) ended.resolve({ exitCode, sentence })
}
