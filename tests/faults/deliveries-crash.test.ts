// What was stored arrives, though whoever delivers it is killed again and again.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import {
  type NotificationHarness,
  openNotificationHarness,
  TEST_SECRET,
} from '../support/notification-harness.ts'
import { atScale } from '../support/scale.ts'
import { ENGINES } from '../support/server/test-server.ts'
import { until } from '../support/until.ts'
import { randomMs } from './server-process.ts'

const ROUNDS = atScale({ test: 2, soak: 10 })
const SUBMISSIONS = atScale({ test: 320, soak: 1_000 })
const CHANNELS = 8
/** What may be in hand at a kill: two for each channel. */
const IN_HAND = 2 * CHANNELS

/** Without one arrival. The longest that something may wait is a lease of a second. */
const STALLED_MS = 40_000

const closeLater = closeAfterAll()

async function startDeliverer({ dataDir, databaseUrl }: NotificationHarness) {
  const program = join(import.meta.dir, 'deliverer-process.ts')
  const child = Bun.spawn(
    [process.execPath, program, dataDir, TEST_SECRET, ...(databaseUrl ? [databaseUrl] : [])],
    { env: { PATH: process.env.PATH }, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  )
  const reader = child.stdout.getReader()
  await reader.read()
  return {
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Kills it as often as asked while it delivers, then lets it come to the end. */
async function deliverWithKills(outbox: NotificationHarness, hook: WebhookReceiver) {
  for (let round = 0; round < ROUNDS; round++) {
    // Counted in arrivals, not in time: on a slow machine too, some fall before the first is written down, and some after.
    const some = hook.requests.length + Math.ceil(randomMs(0, 2 * IN_HAND))
    const child = await startDeliverer(outbox)
    closeLater(child.kill)
    await until('some deliveries', () => hook.requests.length >= some, STALLED_MS)
    await Bun.sleep(randomMs(0, 10))
    await child.kill()
  }
  const last = await startDeliverer(outbox)
  closeLater(last.kill)
  await allDelivered(outbox)
  await last.kill()
}

/** Takes as long as it takes, while there is always one more. */
async function allDelivered({ db }: NotificationHarness) {
  for (let delivered = 0; delivered < SUBMISSIONS; ) {
    const before = delivered
    delivered = await until(
      `more than ${before} deliveries`,
      async () => {
        const all = await db.read.selectFrom('deliveries').select('status').execute()
        const now = all.filter(({ status }) => status === 'delivered').length
        const given = all.filter(({ status }) => status !== 'delivered' && status !== 'waiting')
        expect(given).toEqual([])
        return now > before ? now : undefined
      },
      STALLED_MS,
    )
    await Bun.sleep(50)
  }
}

describe.each(ENGINES)('deliveries on %s', (engine) => {
  test(`all arrive after ${ROUNDS} kills, few of them twice, every one signed`, async () => {
    const outbox = await openNotificationHarness(engine)
    closeLater(outbox.close)
    const hook = startWebhookReceiver()
    closeLater(hook.stop)
    const workspace = await outbox.createWorkspace()
    const secrets = new Map<string, string>()
    const channelIds: number[] = []
    for (let i = 0; i < CHANNELS; i++) {
      const { id, secret } = await workspace.createWebhook(`${hook.url}/${i}`)
      channelIds.push(id)
      secrets.set(String(i), secret)
    }
    const each = SUBMISSIONS / CHANNELS
    for (const id of channelIds) await workspace.submit(await workspace.createForm([id]), each)
    // So that there is something left to be killed for.
    hook.respondWith(async () => {
      await Bun.sleep(3)
      return new Response('ok')
    })
    await deliverWithKills(outbox, hook)

    const sent = (await workspace.listDeliveries()).map(({ messageId }) => messageId)
    const counts = hook.countById()
    expect([...counts.keys()].sort()).toEqual(sent.sort())
    expect(hook.requests.length - counts.size).toBeLessThanOrEqual(ROUNDS * IN_HAND)
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(ROUNDS + 1)
    for (const { path, body, headers } of hook.requests) {
      const secret = secrets.get(path.split('/').at(-1) ?? '') ?? ''
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'submission.created' })
    }
  }, 300_000)
})
