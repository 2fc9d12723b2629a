// A server process's connection to its supervisor (WORKERS): reports that it is ready or cannot start, receives the
// order to stop, and exchanges metrics with the other server processes of the machine.

import type { Metric } from '../http/health-and-metrics.ts'
import { connectToParent } from '../lib/child-process.ts'

/** Another server process of the same supervisor. */
export interface Sibling {
  worker: number
  /** Its node, once it has been ready. */
  node?: string
  /** Whether it runs, and was asked. */
  isUp: boolean
}

export type MessageFromSupervisor =
  | { type: 'stop' }
  /** Another worker asks for metrics. */
  | { type: 'metricsWanted'; id: number; by: number }
  /** The workers that were asked for metrics. */
  | { type: 'siblings'; id: number; siblings: Sibling[] }
  | { type: 'metrics'; id: number; from: number; metrics: Metric[] }

export type MessageToSupervisor =
  /** It listens. */
  | { type: 'ready'; node: string; text: string }
  /** It cannot start: a sentence for the operator. */
  | { type: 'refused'; sentence: string }
  | { type: 'askMetrics'; id: number }
  | { type: 'metrics'; id: number; to: number; metrics: Metric[] }

export interface WorkerChannel {
  readonly number: number
  /** @param text for the operator, once all workers are ready */
  reportReady(ready: { node: string; text: string }): void
  /** Never resolves: the supervisor ends this process. */
  refuse(sentence: string): Promise<never>
  /** Calls `stop` once, also where the supervisor or a signal has asked for it before. */
  onStop(stop: () => void): void
  answerMetrics(read: () => Metric[]): void
  /** The metrics of the workers that answer in time, and the workers that run. */
  readSiblings(): Promise<Metric[]>
}

/** A worker that does not answer in this time is left out. */
const ANSWER_MS = 1_000

/** One question for the metrics of all siblings. */
interface Question {
  siblings?: Sibling[]
  answers: Map<number, Metric[]>
  resolve(): void
}

interface ChannelState {
  number: number
  node?: string
  stopping: PromiseWithResolvers<void>
  readMetrics: () => Metric[]
  questions: Map<number, Question>
  lastId: number
  send(message: MessageToSupervisor): void
}

/** @param number of this worker, from 1 */
export function connectToSupervisor(number: number): WorkerChannel {
  const state: ChannelState = {
    number,
    stopping: Promise.withResolvers(),
    readMetrics: () => [],
    questions: new Map(),
    lastId: 0,
    // Without its supervisor this process must end, because the next start needs its directory and ports. If only
    // this process gets a signal, the supervisor starts a new one.
    send: connectToParent<MessageToSupervisor, MessageFromSupervisor>(
      (message) => receive(state, message),
      () => state.stopping.resolve(),
    ),
  }
  return {
    number,
    reportReady({ node, text }) {
      state.node = node
      state.send({ type: 'ready', node, text })
    },
    refuse(sentence) {
      state.send({ type: 'refused', sentence })
      return new Promise(() => {})
    },
    onStop: (stop) => void state.stopping.promise.then(stop),
    answerMetrics(read) {
      state.readMetrics = read
    },
    readSiblings: () => readSiblings(state),
  }
}

function receive(state: ChannelState, message: MessageFromSupervisor): void {
  if (message.type === 'stop') return void state.stopping.resolve()
  if (message.type === 'metricsWanted')
    return void state.send({ type: 'metrics', id: message.id, to: message.by, metrics: state.readMetrics() })
  const question = state.questions.get(message.id)
  if (!question) return
  if (message.type === 'siblings') question.siblings = message.siblings
  else question.answers.set(message.from, message.metrics)
  const asked = question.siblings?.filter(({ isUp }) => isUp)
  if (asked?.every(({ worker }) => question.answers.has(worker))) question.resolve()
}

async function readSiblings(state: ChannelState): Promise<Metric[]> {
  const id = ++state.lastId
  const { promise, resolve } = Promise.withResolvers<void>()
  const question: Question = { answers: new Map(), resolve }
  state.questions.set(id, question)
  state.send({ type: 'askMetrics', id })
  const late = setTimeout(resolve, ANSWER_MS)
  await promise
  clearTimeout(late)
  state.questions.delete(id)
  return [...question.answers.values()].flat().concat(toUpMetrics(state, question))
}

const toUpMetrics = ({ number: own, node }: ChannelState, { siblings = [], answers }: Question): Metric[] =>
  [{ worker: own, node }, ...siblings].map(
    ({ worker, node }): Metric => ({
      name: 'towpath_worker_up',
      kind: 'gauge',
      help: 'Whether this worker runs and has given its metrics within a second',
      labels: { ...(node !== undefined && { node }), worker: String(worker) },
      value: Number(worker === own || answers.has(worker)),
    }),
  )
