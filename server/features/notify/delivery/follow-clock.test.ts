// Nothing waits for a clock that was ahead, on both engines.

import { afterEach, expect, test } from 'bun:test'
import { notificationsOnBothEngines } from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { createClockFollower } from './follow-clock.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

notificationsOnBothEngines('after the clock was set back', (outbox) => {
  afterEach(async () => {
    await outbox().deliverer?.close()
    outbox().clockAheadMs = 0
  })

  /** Submissions whose receiver fails: their retries are planned by a clock that is ahead. */
  async function failAhead(aheadMs: number, count: number) {
    const hook = outbox().startReceiver(() => new Response('no', { status: 500 }))
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(hook.url)
    outbox().clockAheadMs = aheadMs
    await outbox().startDeliverer()
    await workspace.submit(form, count)
    await until('the first attempts', async () => (await outbox().countAttempts(workspace.id)) >= count)
    hook.respondWith(() => new Response('ok'))
    return { workspace, form }
  }

  test('a step forward, and small steps back, change nothing', async () => {
    const { workspace } = await failAhead(0, 1)
    const read = () =>
      outbox()
        .db.read.selectFrom('deliveries')
        .select(['id', 'due_at'])
        .where('workspace_id', '=', workspace.id)
        .execute()
    await outbox().deliverer?.close()
    const before = await read()
    const follow = createClockFollower(outbox())
    for (const aheadMs of [0, DAY, DAY - 30_000, DAY - 60_000]) {
      outbox().clockAheadMs = aheadMs
      await follow()
    }
    expect(await read()).toEqual(before)
  })

  test('by an hour while the server runs, retries and the pause of the channel come as planned', async () => {
    const { workspace, form } = await failAhead(HOUR, 5)
    const follow = createClockFollower(outbox())
    await follow()
    outbox().clockAheadMs = 0
    await follow()
    await workspace.submit(form, 1)
    // The second attempt comes 5 s after the first, ± 20 %, and the channel pauses for at most as long.
    outbox().advanceClock(12_000)
    await workspace.untilThereAre(6, 'delivered')
  })

  test('by two days while no server ran, retries and leases come as planned', async () => {
    const { workspace, form } = await failAhead(2 * DAY, 1)
    await outbox().deliverer?.close()
    await workspace.submit(form, 1)
    // They keep their leases, as after SIGKILL.
    await outbox().db.write((connection) =>
      connection
        .updateTable('deliveries')
        .set({ leased_until: outbox().now() + 60_000 })
        .where('workspace_id', '=', workspace.id)
        .where('status', '=', 'waiting')
        .execute(),
    )
    outbox().clockAheadMs = 0
    await createClockFollower(outbox())()
    outbox().clockAheadMs = 70_000
    await outbox().startDeliverer()
    await workspace.untilThereAre(2, 'delivered')
  })
})
