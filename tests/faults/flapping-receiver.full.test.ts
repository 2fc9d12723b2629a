// A receiver that refuses, is silent, breaks off and works, in turns: everything arrives, as often as it has to be sent
// and no more, at the times of the schedule, and nobody else waits for it.

import { afterAll, expect, test } from 'bun:test'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { RETRY_DELAYS } from '../../server/features/notify/delivery/retry-schedule.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { type HarnessWorkspace, notificationsOnBothEngines } from '../support/notification-harness.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'

const DELIVERIES = atScale({ full: 6, soak: 60 })
/** A slow machine may answer later: such an attempt is one more. */
const TIMEOUT_MS = 200
/** Longer than the third wait of the schedule, at its longest. */
const STEP_MS = 40 * 60_000

/**
 * A wait is the planned one ±20 %, before or after the last step of the clock.
 * @param since when the round before began: no attempt of this round ended earlier
 */
function expectPlanned(planned: number, wait: number, since: number) {
  const passedMs = performance.now() - since
  const fits = [wait, wait + STEP_MS].some(
    (each) => each >= planned * 0.8 - passedMs - 1 && each <= planned * 1.2 + 1,
  )
  expect({ planned, wait, fits }).toEqual({ planned, wait, fits: true })
}

type Reaction = (request: IncomingMessage, response: ServerResponse) => unknown

/** The answers to each message, one after the other. */
const REACTIONS: Reaction[] = [
  (_, response) => response.writeHead(500).end('no'),
  () => {}, // silent
  ({ socket }) => socket.resetAndDestroy(),
  (_, response) => response.end('ok'),
]

async function startFlappingReceiver() {
  const tries = new Map<string, number>()
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id'])
    const tried = tries.get(id) ?? 0
    tries.set(id, tried + 1)
    request.resume().on('end', () => REACTIONS[Math.min(tried, REACTIONS.length - 1)]?.(request, response))
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/hook`,
    tries,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

notificationsOnBothEngines('a receiver that works now and then', (outbox) => {
  const stops: (() => unknown)[] = []
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  /** Deliveries that have failed and wait for another attempt. */
  const listPostponed = ({ id }: HarnessWorkspace) =>
    outbox()
      .db.read.selectFrom('deliveries')
      .select(['id', 'attempts', 'due_at'])
      .where('workspace_id', '=', id)
      .where('status', '=', 'waiting')
      .where('attempts', '>', 0)
      .where('leased_until', 'is', null)
      .execute()

  /** Deliveries that are being sent, or should be by now. After a late answer, the next wait may be longer than a step. */
  const listDue = ({ id }: HarnessWorkspace) =>
    outbox()
      .db.read.selectFrom('deliveries')
      .select('id')
      .where('workspace_id', '=', id)
      .where('status', '=', 'waiting')
      .where((e) => e.or([e('leased_until', 'is not', null), e('due_at', '<=', outbox().now())]))
      .execute()

  const listAttempts = ({ id }: HarnessWorkspace) =>
    outbox()
      .db.read.selectFrom('delivery_attempts')
      .innerJoin('deliveries', 'deliveries.id', 'delivery_attempts.delivery_id')
      .select(['deliveries.message_id', 'outcome'])
      .where('delivery_attempts.workspace_id', '=', id)
      .execute()

  test('gets each message until it takes it, at the times of the schedule, and holds up nobody', async () => {
    const [flapping, steady] = [await startFlappingReceiver(), startWebhookReceiver()]
    stops.push(flapping.stop, steady.stop)
    const [workspace, other] = [await outbox().createWorkspace(), await outbox().createWorkspace()]
    const form = await workspace.createForm([(await workspace.createWebhook(flapping.url)).id])
    const otherForm = await other.createForm([(await other.createWebhook(steady.url)).id])
    await outbox().startDeliverer({ send: { ...outbox().needs.send, timeoutMs: TIMEOUT_MS } })
    await workspace.submit(form, DELIVERIES)
    const listUndelivered = async () =>
      (await workspace.listDeliveries()).filter(({ status }) => status !== 'delivered')

    const planned = new Map<number, number>()
    let [roundBefore, round] = [performance.now(), performance.now()]
    let before = 0
    for (let step = 1; (await listUndelivered()).length > 0; step++) {
      ;[roundBefore, round] = [round, performance.now()]
      await other.submit(otherForm)
      await until('the message of somebody else', () => steady.countById().size === step)
      // The last attempt may have ended before the count.
      await until('another attempt', async () => {
        const attempted = (await outbox().countAttempts(workspace.id)) > before
        return attempted || (await listDue(workspace)).length === 0
      })
      for (const { id, attempts, due_at } of await listPostponed(workspace)) {
        if (planned.get(id) === attempts) continue
        planned.set(id, attempts)
        expectPlanned(RETRY_DELAYS[attempts] as number, (due_at as number) - outbox().now(), roundBefore)
      }
      // Counted before the step: an attempt that fails after it may pause the channel, and nobody tries again before the
      // next step.
      before = await outbox().countAttempts(workspace.id)
      outbox().advanceClock(STEP_MS)
    }
    const attempts = await listAttempts(workspace)
    expect(flapping.tries.size).toBe(DELIVERIES)
    expect(Math.min(...flapping.tries.values())).toBeGreaterThanOrEqual(REACTIONS.length)
    // Nothing was sent that is not recorded.
    const recorded = Map.groupBy(attempts, ({ message_id }) => message_id)
    expect([...flapping.tries].filter(([id, tries]) => tries > (recorded.get(id)?.length ?? 0))).toEqual([])
    expect(attempts.filter(({ outcome }) => outcome === 'delivered')).toHaveLength(DELIVERIES)
    const outcomes = new Set(attempts.map(({ outcome }) => outcome))
    expect([...outcomes].sort()).toEqual(['delivered', 'refused', 'timeout', 'unreachable'])
  }, 240_000)
})
