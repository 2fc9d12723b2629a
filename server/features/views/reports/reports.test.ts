// Reports of views: when they are due, that each comes once, and that its figures are those of analytics.

import { afterAll, expect, test } from 'bun:test'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onSqlite, type TestServer } from '../../../../tests/support/world.ts'
import type { Notice } from '../../notify/channels/contract.ts'
import { mailHtml, mailText } from '../../notify/channels/mail-body.ts'
import { findReportContent } from '../../notify/content/report-content.ts'
import { findDuePeriod, findNextDue, type ReportTime } from '../report-schedule.ts'
import { sendDueReports } from './send-reports.ts'

const iso = (at: number) => new Date(at).toISOString().slice(0, 16)

test.each<[ReportTime, string, string, string, string]>([
  // settings, zone, now, next due, period of what is due then
  [
    { every: 'day', at: '08:00' },
    'UTC',
    '2026-03-28T07:59Z',
    '2026-03-28T08:00',
    '2026-03-27T00:00/2026-03-28T00:00',
  ],
  [
    { every: 'day', at: '08:00' },
    'UTC',
    '2026-03-28T08:00Z',
    '2026-03-29T08:00',
    '2026-03-28T00:00/2026-03-29T00:00',
  ],
  // 02:30 does not exist on that day, and the day before has 24 hours.
  [
    { every: 'day', at: '02:30' },
    'Europe/Berlin',
    '2026-03-28T12:00Z',
    '2026-03-29T01:30',
    '2026-03-27T23:00/2026-03-28T23:00',
  ],
  [
    { every: 'day', at: '00:00' },
    'Europe/Berlin',
    '2026-03-29T12:00Z',
    '2026-03-29T22:00',
    '2026-03-28T23:00/2026-03-29T22:00',
  ],
  // 02:30 comes twice on that day: the first one counts.
  [
    { every: 'day', at: '02:30' },
    'Europe/Berlin',
    '2026-10-24T12:00Z',
    '2026-10-25T00:30',
    '2026-10-23T22:00/2026-10-24T22:00',
  ],
  [
    { every: 'week', at: '09:00' },
    'America/New_York',
    '2026-03-04T12:00Z',
    '2026-03-09T13:00',
    '2026-03-02T05:00/2026-03-09T04:00',
  ],
  [
    { every: 'month', at: '09:00' },
    'Asia/Tokyo',
    '2026-01-31T12:00Z',
    '2026-02-01T00:00',
    '2025-12-31T15:00/2026-01-31T15:00',
  ],
  [
    { every: 'month', at: '23:59' },
    'UTC',
    '2028-02-29T12:00Z',
    '2028-03-01T23:59',
    '2028-02-01T00:00/2028-03-01T00:00',
  ],
  // Midnight did not exist in Beirut on that day.
  [
    { every: 'day', at: '00:00' },
    'Asia/Beirut',
    '2026-03-28T12:00Z',
    '2026-03-28T22:00',
    '2026-03-27T22:00/2026-03-28T22:00',
  ],
])('%j in %s after %s is due at %s about %s', (time, zone, now, due, period) => {
  const next = findNextDue(time, zone, Date.parse(now))
  const found = findDuePeriod(time, zone, next)
  expect([iso(next), `${iso(found.period.start)}/${iso(found.period.end)}`]).toEqual([due, period])
  expect(found.before.end).toBe(found.period.start)
})

quick('in every zone, a year of days has a report for each, and each period follows the one before', () => {
  const [from, to] = [Date.parse('2026-01-01T12:00Z'), Date.parse('2026-12-31T12:00Z')]
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const time = { every: 'week', at: '02:30' } as const
    const ends = new Set<number>()
    let last: number | undefined
    for (let at = findNextDue(time, zone, from); at < to; at = findNextDue(time, zone, at)) {
      const { period } = findDuePeriod(time, zone, at)
      expect([zone, last ?? period.start]).toEqual([zone, period.start])
      last = period.end
      ends.add(period.end)
    }
    expect([zone, ends.size]).toEqual([zone, 52])
  }
})

let receiver: WebhookReceiver | undefined
afterAll(() => receiver?.stop())

const send = (server: TestServer) =>
  sendDueReports({
    ...server.app.api.leads,
    origin: server.origin,
    wakeDeliverer: () => server.app.api.notify.wake(),
  })

onSqlite(
  'a report',
  (server) => {
    quick('comes once for a period, from any number of nodes, with the figures of analytics', async () => {
      receiver = await startWebhookReceiver()
      const ws = await server().createWorkspace()
      const channel = (
        await ws.api('/channels', {
          method: 'POST',
          body: { type: 'webhook', name: 'Hook', url: receiver.url },
        })
      ).json.data
      const [link, other] = [await ws.createLink({ slug: 'own' }), await ws.createLink()]
      for (const slug of [link.slug, link.slug, other.slug]) await server().click(slug)
      await server().waitUntilShipped()
      const report = { every: 'day', at: '02:30', channelIds: [channel.id, channel.id] }
      const body = {
        name: 'A <b>view</b>',
        filters: { linkId: String(link.id) },
        timezone: 'Europe/Berlin',
        report,
      }
      const made = await ws.api('/views', { method: 'POST', body })
      expect(made.json.data.report).toEqual({ ...report, channelIds: [channel.id] })
      await send(server())
      expect(await server().app.db.read.selectFrom('view_reports').selectAll().execute()).toEqual([])
      server().advanceClock(Date.parse(made.json.data.nextReportAt) - server().now() + 1000)
      await Promise.all([send(server()), send(server()), send(server())])
      await send(server())
      const hooks = await until('the report', () => (receiver?.requests[0] ? receiver.requests : undefined))
      expect(hooks).toHaveLength(1)
      const { type, data } = JSON.parse(String(hooks[0]?.body))
      expect([type, data.name, data.totals[0].label]).toEqual(['view.report', 'A <b>view</b>', 'Clicks'])
      const query = new URLSearchParams({ linkId: String(link.id), start: data.start, end: data.end })
      const total = (await ws.api(`/analytics/clicks?${query}`)).json.data
      expect([data.totals[0].count, data.totals[1].count]).toEqual([total.clicks, total.visitors])
      expect(total.clicks).toBe(2)
      const lists = (await ws.api(`/analytics/clicks?${query}&groupBy=source`)).json.data
      expect(data.lists[1].rows).toEqual(
        lists.map((row: { source: string; clicks: number }) => ({
          label: row.source === '(direct)' ? 'Direct' : row.source,
          count: row.clicks,
        })),
      )
      const [delivery] = await server().app.db.read.selectFrom('deliveries').selectAll().execute()
      const content = await findReportContent(server().app.db.read, {
        id: delivery?.id ?? 0,
        workspaceId: ws.id,
      })
      const notice = { ...content, event: 'view.report', messageId: 'm', at: 0 } as Notice
      const page = mailHtml(notice, 'https://go.example/stop')
      expect(page).toContain('A &lt;b&gt;view&lt;/b&gt;')
      expect(page).toContain('https://go.example/stop')
      expect(page).not.toMatch(/<script|<img|<style/)
      expect(mailText(notice)).toContain('Clicks:\n  2')
      const { json } = await ws.api(`/views/${made.json.data.id}`)
      expect(Date.parse(json.data.nextReportAt)).toBeGreaterThan(server().now())
    })

    test.each<[object | null, string]>([
      [{}, 'report.every'],
      [{ every: 'hour', at: '08:00', channelIds: [1] }, 'report.every'],
      [{ every: 'day', at: '24:00', channelIds: [1] }, 'report.at'],
      [{ every: 'day', at: '8:00', channelIds: [1] }, 'report.at'],
      [{ every: 'day', at: '08:00', channelIds: [] }, 'report.channelIds'],
      [{ every: 'day', at: '08:00', channelIds: [999_999] }, 'report.channelIds'],
      [{ every: 'day', at: '08:00', channelIds: [1], minute: 3 }, 'report.minute'],
    ])('is not %j', async (report, field) => {
      const ws = await server().createWorkspace()
      const { status, json } = await ws.api('/views', { method: 'POST', body: { name: 'V', report } })
      expect([status, Object.keys(json.errors ?? {})]).toEqual([422, expect.arrayContaining([field])])
    })
  },
  { environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } },
)
