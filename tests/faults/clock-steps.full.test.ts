// The clock jumps while a server runs: an hour back, two days on, and back again.

import { expect, test } from 'bun:test'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { SCRIPT_HEADERS, URLENCODED_TYPE } from '../support/form-requests.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { addToWorkspace, createSignedInUser } from '../support/users/signed-in-user.ts'
import { onBothEngines, onSqlite } from '../support/world.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

let aheadMs = 0
const now = () => Date.now() + aheadMs

// server/features/notify/delivery/follow-clock.test.ts has both engines.
atScale({ full: onSqlite, soak: onBothEngines })(
  'a clock that jumps',
  (server) => {
    test('locks nobody out, and delays no notification by the size of the jump', async () => {
      const hook = startWebhookReceiver()
      aheadMs = 0
      const workspace = await server().createWorkspace()
      const user = await createSignedInUser(server(), 'Ada')
      await addToWorkspace(server(), workspace.id, user, 'owner')
      const link = await workspace.createLink()
      const post = async (path: string, body: unknown) =>
        (await workspace.api(path, { method: 'POST', body })).json.data
      const channel = await post('/channels', { type: 'webhook', name: 'Hook', url: hook.url })
      const form = await post('/forms', { name: 'Contact', channelIds: [channel.id] })
      let sent = 0
      const submit = async () => {
        sent++
        const headers = {
          ...SCRIPT_HEADERS,
          'Content-Type': URLENCODED_TYPE,
          'X-Forwarded-For': `10.9.0.${sent}`,
        }
        const answer = await server().call(`/f/${form.formKey}`, {
          method: 'POST',
          body: `n=${sent}`,
          headers,
        })
        expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
      }
      /** Requests of people, and their results. */
      const verifyAllWork = async (clicks: number) => {
        await submit()
        expect((await server().click(link.slug)).status).toBe(302)
        expect((await user.apiIn(workspace.id, '/links')).status).toBe(200)
        // Time passes ten times as fast, so that a retry after 5 s does not take that long.
        const isDelivered = async () => {
          aheadMs += 500
          // With the session, so that a slow machine does not use up the minute of the API key.
          const { json } = await user.apiIn(workspace.id, '/deliveries?limit=1&status=delivered')
          return json.total === sent
        }
        await until('every submission to be delivered', isDelivered)
        await server().waitUntilShipped()
        const { json } = await workspace.api('/analytics/clicks?start=2020-01-01&end=2100-01-01')
        expect(json.data.clicks).toBe(clicks)
      }

      await verifyAllWork(1)
      // Five failures: the channel pauses.
      hook.respondWith(() => new Response('no', { status: 500 }))
      const failed = hook.requests.length + 5
      for (let i = 0; i < 5; i++) await submit()
      await until('five failures', () => hook.requests.length >= failed)
      hook.respondWith(() => new Response('ok'))

      aheadMs = -HOUR
      await verifyAllWork(2)
      aheadMs = 2 * DAY
      await verifyAllWork(3)
      aheadMs = 0
      await verifyAllWork(4)
      // An API key may do as much as before: its minute is measured by another clock.
      const { headers } = await workspace.api('/links')
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(200)
      await hook.stop()
    })
  },
  { now, environment: { TRUST_PROXY: '127.0.0.1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } },
)
