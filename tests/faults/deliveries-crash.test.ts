// Every stored delivery arrives, although the deliverer's process is killed several times.

import { describe, expect } from 'bun:test'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { CONCURRENT_ATTEMPTS } from '../../server/features/notify/delivery/fair-schedule.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import {
  type NotificationHarness,
  openNotificationHarness,
  TEST_SECRET,
} from '../support/notification-harness.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { ENGINES } from '../support/world.ts'

const randomMs = createRandomMs('kills of a deliverer')

const ROUNDS = atScale({ quick: 1, full: 2, soak: 10 })
const SUBMISSIONS = atScale({ quick: 80, full: 320, soak: 1_500 })
const CHANNELS = atScale({ quick: 2, full: 8, soak: 8 })
/** The most attempts that run at a kill. */
const RUNNING_MAX = CONCURRENT_ATTEMPTS

/** Fail after this time without an arrival. A delivery waits for a lease of one second at most. */
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

/** Kills the deliverer ROUNDS times while it delivers, then lets one deliver the rest. */
async function deliverWithKills(harness: NotificationHarness, hook: WebhookReceiver) {
  for (let round = 0; round < ROUNDS; round++) {
    // The kill comes after a number of arrivals and not after a time, so that on a slow machine too some kills come
    // before the first attempt is recorded, and some after. Each round leaves deliveries for the next.
    const target = hook.requests.length + Math.ceil(randomMs(0, SUBMISSIONS / (2 * ROUNDS)))
    const child = await startDeliverer(harness)
    closeLater(child.kill)
    await until('some deliveries', () => hook.requests.length >= target, STALLED_MS)
    await Bun.sleep(randomMs(0, 10))
    await child.kill()
  }
  const last = await startDeliverer(harness)
  closeLater(last.kill)
  await waitUntilAllDelivered(harness)
  await last.kill()
}

/** Waits as long as deliveries go on. @throws when none arrives for STALLED_MS */
async function waitUntilAllDelivered({ db }: NotificationHarness) {
  for (let delivered = 0; delivered < SUBMISSIONS; ) {
    const before = delivered
    delivered = await until(
      `more than ${before} deliveries`,
      async () => {
        const all = await db.read.selectFrom('deliveries').select('status').execute()
        const count = all.filter(({ status }) => status === 'delivered').length
        const failed = all.filter(({ status }) => status !== 'delivered' && status !== 'waiting')
        expect(failed).toEqual([])
        return count > before ? count : undefined
      },
      STALLED_MS,
    )
  }
}

describe.each(ENGINES)('deliveries on %s', (engine) => {
  quick(
    `all arrive after ${ROUNDS} kills, only running attempts arrive twice, and all are signed`,
    async () => {
      const harness = await openNotificationHarness(engine)
      closeLater(harness.close)
      const hook = startWebhookReceiver()
      closeLater(hook.stop)
      const workspace = await harness.createWorkspace()
      const secrets = new Map<string, string>()
      const channelIds: number[] = []
      for (let i = 0; i < CHANNELS; i++) {
        const { id, secret } = await workspace.createWebhook(`${hook.url}/${i}`)
        channelIds.push(id)
        secrets.set(String(i), secret)
      }
      const each = SUBMISSIONS / CHANNELS
      for (const id of channelIds) await workspace.submit(await workspace.createForm([id]), each)
      // A slow receiver, so that deliveries are left for every kill.
      hook.respondWith(async () => {
        await Bun.sleep(3)
        return new Response('ok')
      })
      await deliverWithKills(harness, hook)

      const sent = (await workspace.listDeliveries()).map(({ messageId }) => messageId)
      const counts = hook.countById()
      expect([...counts.keys()].sort()).toEqual(sent.sort())
      expect(hook.requests.length - counts.size).toBeLessThanOrEqual(ROUNDS * RUNNING_MAX)
      expect(Math.max(...counts.values())).toBeLessThanOrEqual(ROUNDS + 1)
      for (const { path, body, headers } of hook.requests) {
        const secret = secrets.get(path.split('/').at(-1) ?? '') ?? ''
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'submission.created' })
      }
    },
    300_000,
  )
})
