// The model of the outbox: a list of acknowledged submissions and of arrivals, and the invariants between them.

import type { DeliveryResult } from '../../../server/features/notify/channels/contract.ts'
import {
  ATTEMPTS_MAX,
  INTERRUPTIONS_MAX,
  RETRY_DELAYS,
} from '../../../server/features/notify/delivery/retry-schedule.ts'
import type { SimulatedProcess } from '../machine/process.ts'
import type { World } from '../machine/world.ts'
import type { SimulatedReceiver } from './receivers.ts'
import type { Rows } from './rows.ts'

export interface RunningAttempt {
  messageId: string
  receiver: SimulatedReceiver
  process: SimulatedProcess
  startedAt: number
  isRunning: boolean
}

type TroubleKind = 'clock' | 'clockBack' | 'database' | 'end'

export interface OutboxRecords {
  readonly rows: Rows
  readonly receivers: readonly SimulatedReceiver[]
  violation: string | undefined
  /** How many deliveries each submission has, by its number. */
  readonly submissions: Map<number, { deliveries: number; isAcknowledged: boolean }>
  /** How often each message has arrived. */
  readonly arrivals: Map<string, number>
  /** How often each message was sent. */
  readonly sent: Map<string, number>
  /** The answer that failed last. */
  readonly failures: Map<string, { at: number; attempts: number }>
  /** True time of the last trouble of each kind. */
  readonly troubles: Record<TroubleKind, number>
  /** Milliseconds since the beginning, as no clock on a wall shows them. */
  trueTime(): number
  passTime(ms: number): void
  nextSubmission(): number
  noteSubmission(number: number, deliveries: number): void
  noteAcknowledged(number: number): void
  noteRefused(number: number, error: unknown): void
  noteArrival(messageId: string): void
  noteAnswer(attempt: RunningAttempt, result: DeliveryResult): void
  noteEnd(process: SimulatedProcess): void
  noteTrouble(kind: TroubleKind): void
  listRunning(): RunningAttempt[]
  add(attempt: RunningAttempt): void
}

/** The deliverer gives an attempt up after this time, and has not its lease any longer. */
const ATTEMPT_MAX_MS = 45_000
const LEASE_MS = 60_000
const LONG_AGO = -1e15
const SLOTS = { webhook: 16, slack: 2 }

export function createRecords(
  world: World,
  rows: Rows,
  receivers: readonly SimulatedReceiver[],
): OutboxRecords {
  let skippedMs = 0
  let lastNumber = 0
  let running: RunningAttempt[] = []
  const increase = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  const records: OutboxRecords = {
    rows,
    receivers,
    violation: undefined,
    submissions: new Map(),
    arrivals: new Map(),
    sent: new Map(),
    failures: new Map(),
    troubles: { clock: LONG_AGO, clockBack: LONG_AGO, database: LONG_AGO, end: LONG_AGO },
    trueTime: () => world.now() + skippedMs,
    passTime(ms) {
      skippedMs += ms
    },
    nextSubmission: () => ++lastNumber,
    noteSubmission: (number, deliveries) =>
      void records.submissions.set(number, { deliveries, isAcknowledged: false }),
    noteAcknowledged(number) {
      const submission = records.submissions.get(number)
      if (submission) submission.isAcknowledged = true
    },
    noteRefused(number, error) {
      const text = `submission ${number} is not acknowledged: ${error}`
      world.note(text)
      if (!hasTroubles(records)) records.violation ??= text
    },
    noteArrival: (messageId) => void increase(records.arrivals, messageId),
    noteAnswer(attempt, { outcome, httpStatus }) {
      attempt.isRunning = false
      world.note(`${attempt.messageId} ${outcome} ${httpStatus}`)
      if (outcome !== 'delivered')
        records.failures.set(attempt.messageId, {
          at: records.trueTime(),
          attempts: records.sent.get(attempt.messageId) ?? 0,
        })
    },
    noteEnd(process) {
      records.troubles.end = records.trueTime()
      running = running.filter((attempt) => attempt.process !== process)
    },
    noteTrouble(kind) {
      records.troubles[kind] = records.trueTime()
    },
    listRunning() {
      const now = records.trueTime()
      running = running.filter(({ isRunning, startedAt }) => isRunning && now - startedAt < ATTEMPT_MAX_MS)
      return running
    },
    add(attempt) {
      running.push(attempt)
      increase(records.sent, attempt.messageId)
      world.note(`${attempt.process.name} sends ${attempt.messageId} to ${attempt.receiver.channelId}`)
    },
  }
  return records
}

const hasTroubles = ({ troubles }: Pick<OutboxRecords, 'troubles'>) =>
  Math.max(...Object.values(troubles)) > LONG_AGO

/** Looks at an attempt that begins. */
export function checkAttempt(records: OutboxRecords, attempt: RunningAttempt): void {
  records.violation ??= findFault(records, attempt)
  records.add(attempt)
}

interface Delivery {
  id: number
  attempts: number
  interrupted: number
  channel_id: number
}

function findFault(
  records: OutboxRecords,
  { messageId, receiver, startedAt }: RunningAttempt,
): string | undefined {
  const { rows, troubles, sent, failures } = records
  const [delivery] = rows.ask<Delivery>(
    'select id, attempts, interrupted, channel_id from deliveries where message_id = ?',
    messageId,
  )
  if (!delivery) return `${messageId} is sent, and nobody has stored it`
  const times = (sent.get(messageId) ?? 0) + 1
  if (delivery.attempts < times)
    return `${messageId} is sent ${times} times, and has ${delivery.attempts} attempts`
  const rest = records.listRunning()
  // A jump ends leases too early, and attempts of the same delivery run beside each other until the first has its answer.
  const isLeaseValid = (since: number) => Math.max(troubles.clock, troubles.clockBack) < since - LEASE_MS
  const twin = rest.find((other) => other.messageId === messageId && isLeaseValid(other.startedAt))
  if (twin) return `${messageId} is sent twice at a time`
  const beside = rest.filter((other) => other.receiver === receiver && isLeaseValid(other.startedAt))
  if (beside.length >= SLOTS[receiver.type])
    return `channel ${receiver.channelId} has ${beside.length + 1} attempts at a time`
  return (
    findEarlyRetry(records, delivery, failures.get(messageId), startedAt) ?? findOvertaken(records, delivery)
  )
}

/** The schedule counts from the answer before, unless nobody could note that answer. */
function findEarlyRetry(
  records: OutboxRecords,
  { id }: Delivery,
  failure: { at: number; attempts: number } | undefined,
  startedAt: number,
): string | undefined {
  // Clocks that are set back bring retries forward too far: those that were planned before a node noticed, and where several
  // nodes notice, all of them.
  if (!failure || hasTroubles(records)) return undefined
  const delayMs = 0.8 * (RETRY_DELAYS[failure.attempts] ?? 0)
  const waitedMs = startedAt - failure.at
  return waitedMs < delayMs - 1 ? `delivery ${id} is tried again after ${waitedMs} ms` : undefined
}

/** The first attempts of a channel come in the order of its submissions. */
function findOvertaken(
  { rows, troubles }: OutboxRecords,
  { id, attempts, channel_id }: Delivery,
): string | undefined {
  if (attempts > 1 || Math.max(troubles.clock, troubles.clockBack) > LONG_AGO) return undefined
  const [overtaken] = rows.ask<{ id: number }>(
    "select id from deliveries where channel_id = ? and status = 'waiting' and attempts = 0 and id < ? limit 1",
    channel_id,
    id,
  )
  return overtaken && `delivery ${id} overtakes delivery ${overtaken.id}`
}

/** Checks the invariants once nothing waits any more. @returns the violation; undefined where there is none */
export function checkOutbox(records: OutboxRecords): string | undefined {
  return findLostSubmission(records) ?? findWrongEnd(records)
}

function findLostSubmission({ rows, submissions }: OutboxRecords): string | undefined {
  const stored = new Map(
    rows
      .ask<{ number: string; deliveries: number }>(
        `select search_text as number, (select count(*) from deliveries d where d.submission_id = s.id) as deliveries
         from submissions s`,
      )
      .map(({ number, deliveries }) => [Number(number), deliveries]),
  )
  for (const [number, { deliveries, isAcknowledged }] of submissions) {
    const found = stored.get(number)
    if (found === undefined && isAcknowledged) return `submission ${number} is lost`
    if (found !== undefined && found !== deliveries)
      return `submission ${number} has ${found} deliveries of ${deliveries}`
  }
  return undefined
}

interface EndedDelivery extends Delivery {
  message_id: string
  status: string
  enabled: number
  recorded: number
  permanent: number
}

function findWrongEnd(records: OutboxRecords): string | undefined {
  const { rows, arrivals, receivers } = records
  const ended = rows.ask<EndedDelivery>(
    `select d.id, d.message_id, d.status, d.attempts, d.interrupted, d.channel_id, c.enabled,
       (select count(*) from delivery_attempts a where a.delivery_id = d.id) as recorded,
       (select count(*) from delivery_attempts a where a.delivery_id = d.id and a.http_status in (400, 410)) as permanent
     from deliveries d join channels c on c.id = d.channel_id`,
  )
  for (const {
    id,
    message_id,
    status,
    attempts,
    interrupted,
    channel_id,
    enabled,
    recorded,
    permanent,
  } of ended) {
    const kind = receivers[channel_id - 1]?.kind
    if (status === 'delivered' && !arrivals.has(message_id))
      return `delivery ${id} is delivered, and has not arrived`
    const used = attempts - interrupted
    const isSpent = used >= ATTEMPTS_MAX || interrupted >= INTERRUPTIONS_MAX || permanent > 0
    if (status === 'failed' && !isSpent) return `delivery ${id} has failed after ${used} attempts (${kind})`
    if (status === 'waiting' && enabled === 1) return `delivery ${id} waits for ever`
    if (used > ATTEMPTS_MAX) return `delivery ${id} has ${used} attempts`
    if (hasTroubles(records)) continue
    if (interrupted > 0) return `delivery ${id} is interrupted, and no process has ended`
    if (recorded !== attempts) return `delivery ${id} has ${attempts} attempts, and ${recorded} are recorded`
    if ((kind === 'quick' || kind === 'slow') && attempts !== 1)
      return `delivery ${id} is sent ${attempts} times`
  }
  return undefined
}
