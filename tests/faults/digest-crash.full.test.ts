// A digest whose process is killed while it is sent arrives once more at most, with the same submissions, and all of them
// end with it.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { openNotificationHarness, TEST_SECRET } from '../support/notification-harness.ts'
import { until } from '../support/until.ts'
import { ENGINES } from '../support/world.ts'

const SUBMISSIONS = 130

const closeLater = closeAfterAll()

test.each(ENGINES)(
  'a digest on %s survives kill -9',
  async (engine) => {
    const harness = await openNotificationHarness(engine)
    closeLater(harness.close)
    const hook = startWebhookReceiver()
    closeLater(hook.stop)
    const workspace = await harness.createWorkspace()
    const { json } = await workspace.post('/channels', {
      type: 'slack',
      name: 'Team',
      url: `${new URL(hook.url).origin}/hooks/canarycanarycanarycanarycana`,
      digest: 'hour',
    })
    await workspace.submit(await workspace.createForm([json.data.id]), SUBMISSIONS)
    await harness.db.write((connection) =>
      connection
        .updateTable('deliveries')
        .set({ due_at: 1 })
        .where('workspace_id', '=', workspace.id)
        .execute(),
    )
    const start = async () => {
      const program = join(import.meta.dir, 'deliverer-process.ts')
      const { dataDir, databaseUrl } = harness
      const child = Bun.spawn(
        [process.execPath, program, dataDir, TEST_SECRET, ...(databaseUrl ? [databaseUrl] : [])],
        { env: { PATH: process.env.PATH }, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
      )
      const kill = async () => {
        child.kill('SIGKILL')
        await child.exited
      }
      closeLater(kill)
      return kill
    }
    // The first one has arrived and is not answered when its process is killed.
    hook.respondWith(() => new Promise(() => {}))
    const kill = await start()
    await until('the digest', () => hook.requests.length === 1, 40_000)
    await kill()
    hook.respondWith(() => new Response('ok'))
    await start()
    const ended = async () => {
      const all = await harness.db.read.selectFrom('deliveries').select(['status', 'event']).execute()
      return all.every(({ status }) => status === 'delivered') ? all : undefined
    }
    const all = await until('all to be delivered', ended, 40_000)
    expect(all.length).toBe(SUBMISSIONS + 1)
    expect(hook.requests.length).toBe(2)
    const [first, second] = hook.requests.map(({ body }) => body)
    expect(second).toBe(first as string)
    expect(first).toContain(`${SUBMISSIONS} new submissions to Contact`)
  },
  120_000,
)
