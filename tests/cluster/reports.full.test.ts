// Reports and alerts of views on several nodes, as processes with ClickHouse: each comes once, from whichever node.

import { afterAll, beforeAll, expect } from 'bun:test'
import { tmpdir } from 'node:os'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { CLUSTER_START_MS, type Nodes, startCluster } from '../support/cluster/start-cluster.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const WAIT_MS = 120_000
/** The jobs look every 30 and 60 seconds. */
const QUIET_MS = 70_000
const HOUR = 3_600_000

let cluster: Nodes
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  cluster = await startCluster(1, { environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } })
}, CLUSTER_START_MS)
afterAll(() => Promise.all([cluster?.end(), receiver?.stop()]))

full(
  'three nodes send one report of a period, and one alert about silent links',
  async () => {
    const key = cluster.keys[0] as string
    const create = async (path: string, body: object) => {
      const { status, json, text } = await cluster.pick(0).api(key, path, body)
      if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
      return json.data
    }
    const channel = await create('/channels', { type: 'webhook', name: 'Hook', url: receiver.url })
    const channelIds = [channel.id]
    const { id } = await create('/views', {
      name: 'View',
      timezone: 'Europe/Berlin',
      report: { every: 'day', at: '02:30', channelIds },
      alert: { when: 'silent', window: '24h', channelIds },
    })
    const link = await create('/links', { destinationUrl: 'https://shop.example/', slug: 'quiet' })
    const db = await openDatabase({ dataDir: tmpdir(), databaseUrl: cluster.databaseUrl })
    const now = Date.now()
    await db.write(async (connection) => {
      await connection
        .updateTable('links')
        .set({ created_at: now - 30 * HOUR })
        .where('id', '=', link.id)
        .execute()
      await connection
        .updateTable('views')
        .set({ report_due_at: now - 1000, alert_due_at: now - 1000, alert_links_until: now - 30 * HOUR })
        .where('id', '=', id)
        .execute()
    })
    await db.close()
    const read = (type: string) =>
      receiver.requests.map(({ body }) => JSON.parse(String(body))).filter((told) => told.type === type)
    const report = await until('the report', () => read('view.report')[0], WAIT_MS)
    for (const node of cluster.nodes) {
      const query = new URLSearchParams({ start: report.data.start, end: report.data.end })
      const { json } = await node.api(key, `/analytics/clicks?${query}`)
      expect(report.data.totals[0].count).toBe(json.data.clicks)
    }
    await until('the alert', () => read('view.alert').length > 0, WAIT_MS)
    await Bun.sleep(QUIET_MS)
    expect([read('view.report').length, read('view.alert').length]).toEqual([1, 1])
    expect(read('view.alert')[0].data.links).toEqual([
      { id: link.id, shortUrl: expect.stringContaining('/quiet') },
    ])
  },
  400_000,
)
