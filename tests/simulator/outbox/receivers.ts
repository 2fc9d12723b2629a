// The simulated receivers of notifications: quick and slow ones, and those that fail, hang, lose answers or go for good.

import type { DeliveryResult } from '../../../server/features/notify/channels/contract.ts'
import type { World } from '../machine/world.ts'

export const RECEIVERS = [
  'quick',
  'slow',
  'flaky',
  'down',
  'dead',
  'hangs',
  'losesAnswers',
  'refuses',
  'gone',
  'limits',
] as const

export type ReceiverKind = (typeof RECEIVERS)[number]

export interface SimulatedReceiver {
  channelId: number
  type: 'webhook' | 'slack'
  kind: ReceiverKind
  /** True time: a receiver that is down, or there, is so until then. */
  changesAt: number
}

export interface ReceiverAnswer {
  afterMs: number
  /** The receiver has the message, whatever it answers. */
  arrives: boolean
  /** undefined: no answer ever comes. */
  result: DeliveryResult | undefined
}

const answer = (
  outcome: DeliveryResult['outcome'],
  httpStatus: number | null,
  more = {},
): DeliveryResult => ({ outcome, httpStatus, answer: null, ...more })
const DELIVERED = answer('delivered', 200)
const UNAVAILABLE = answer('refused', 503)
const GONE = answer('refused', 410, { permanent: { what: 'channel', reason: 'It is gone' } })
const REFUSED = answer('refused', 400, { permanent: { what: 'message', reason: 'It is too long' } })
const LIMITED = answer('refused', 429, { retryAfterMs: 3_000 })

/** @param trueTime monotonic milliseconds, with those that were skipped */
export function receive(
  world: World,
  { kind, changesAt }: SimulatedReceiver,
  submissionId: number,
  trueTime: number,
): ReceiverAnswer {
  const afterMs =
    kind === 'quick' ? 5 + world.random() * 40 : world.random() * (kind === 'slow' ? 3_000 : 400)
  const taken: ReceiverAnswer = { afterMs, arrives: true, result: DELIVERED }
  const refuse = (result: DeliveryResult): ReceiverAnswer => ({ afterMs, arrives: false, result })
  if (kind === 'flaky' && world.chance(0.3)) return refuse(UNAVAILABLE)
  if (kind === 'dead' || (kind === 'down' && trueTime < changesAt)) return refuse(UNAVAILABLE)
  if (kind === 'hangs' && world.chance(0.3))
    return { ...taken, arrives: world.chance(0.5), result: undefined }
  if (kind === 'losesAnswers' && world.chance(0.4)) return { ...taken, result: answer('timeout', null) }
  if (kind === 'refuses' && submissionId % 4 === 0) return refuse(REFUSED)
  if (kind === 'gone' && trueTime > changesAt) return refuse(GONE)
  if (kind === 'limits' && world.chance(0.3)) return refuse(LIMITED)
  return taken
}
