// Reports and alerts of views: when they are due, that each comes once, and that the figures are those of analytics.

import { afterAll, expect, test } from 'bun:test'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onSqlite, type TestServer } from '../../../../tests/support/world.ts'
import type { Notice } from '../../notify/channels/contract.ts'
import { mailHtml, mailText } from '../../notify/channels/mail-body.ts'
import { findReportContent } from '../../notify/content/report-content.ts'
import { findAlertHours, findExpected, findNextCheck } from '../alert-schedule.ts'
import { sendDueAlerts } from '../alerts/send-alerts.ts'
import { findDuePeriod, findNextDue, type ReportTime } from '../report-schedule.ts'
import { sendDueReports } from './send-reports.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
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

full('in every zone, each day and each month of a year has one report, also when the clock changes', () => {
  const [from, to] = [Date.parse('2026-01-01T12:00Z'), Date.parse('2027-01-01T12:00Z')]
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const [every, count] of [
      ['day', 365],
      ['month', 12],
    ] as const) {
      const time = { every, at: '02:30' }
      let [last, periods]: [number | undefined, number] = [undefined, 0]
      for (let at = findNextDue(time, zone, from); at <= to; at = findNextDue(time, zone, at)) {
        const { period, before } = findDuePeriod(time, zone, at)
        if (last !== undefined && period.start !== last) throw new Error(`${zone}: a gap before ${iso(at)}`)
        if (before.end !== period.start || period.end > at) throw new Error(`${zone}: ${iso(at)}`)
        last = period.end
        periods++
      }
      // A zone far from UTC has its first or last day on the other side of noon.
      expect([zone, every, Math.abs(periods - count) <= 1]).toEqual([zone, every, true])
    }
})

full('in every zone, each hour of days with a change of the clock is checked once', () => {
  const days = [
    '2026-03-08',
    '2026-03-29',
    '2026-04-05',
    '2026-09-27',
    '2026-10-04',
    '2026-10-25',
    '2026-11-01',
  ]
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const day of days) {
      const from = Date.parse(`${day}T00:00Z`) - 14 * HOUR
      let last: number | undefined
      for (let at = findNextCheck(zone, from); at < from + 52 * HOUR; at = findNextCheck(zone, at)) {
        const { hours, earlier } = findAlertHours('1h', zone, at)
        // Lord Howe moves its clock by half an hour: its hours begin half an hour earlier or later then.
        const hoursSince = last === undefined ? 1 : (hours.end - last) / HOUR
        const isNext = hoursSince === 1 || (zone === 'Australia/Lord_Howe' && [0.5, 1.5].includes(hoursSince))
        const isEarlier = earlier.every(({ start, end }) => end - start === HOUR && end < hours.start)
        if (!isNext || !isEarlier || hours.end >= at) throw new Error(`${zone}: ${iso(at)}`)
        last = hours.end
      }
    }
})

test('an alert compares the last full hours with the same hours of the clock, also over a change of the clock', () => {
  const now = Date.parse('2026-04-01T09:04Z')
  const { hours, earlier } = findAlertHours('6h', 'Europe/Berlin', now)
  expect([iso(hours.start), iso(hours.end)]).toEqual(['2026-04-01T02:00', '2026-04-01T08:00'])
  expect(earlier.map(({ end }) => iso(end))).toEqual([
    '2026-03-25T09:00',
    '2026-03-18T09:00',
    '2026-03-11T09:00',
    '2026-03-04T09:00',
  ])
  expect(iso(findNextCheck('Europe/Berlin', now))).toBe('2026-04-01T09:05')
  expect(iso(findNextCheck('Asia/Kolkata', now))).toBe('2026-04-01T09:35')
  expect(
    [
      [0, 0, 0, 0],
      [10, 0, 5, 0],
      [1, 1, 1, 5],
    ].map(findExpected),
  ).toEqual([null, 5, 2])
})

let receiver: WebhookReceiver | undefined
afterAll(() => receiver?.stop())

const toNeeds = (server: TestServer) => ({ ...server.app.api, origin: server.origin })
const send = (server: TestServer) => sendDueReports(toNeeds(server))

onSqlite(
  'a report',
  (server) => {
    quick('comes once for a period, from any number of nodes, with the figures of analytics', async () => {
      receiver = await startWebhookReceiver()
      // At noon, the clicks are on the day that the next report is about, in both zones.
      server().advanceClock((1.5 * DAY - (server().now() % DAY)) % DAY)
      const ws = await server().createWorkspace()
      const channel = (await ws.post('/channels', { type: 'webhook', name: 'Hook', url: receiver.url })).json
        .data
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
      const made = await ws.post('/views', body)
      expect(made.json.data.report).toEqual({ ...report, channelIds: [channel.id] })
      await send(server())
      expect(await server().rows('view_reports')).toEqual([])
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
      const [delivery] = await server().rows('deliveries')
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

    test('leaves out a channel that is deleted, and ends with its last one', async () => {
      const ws = await server().createWorkspace()
      const create = async () => {
        const body = { type: 'webhook', name: 'Hook', url: 'https://hooks.example/' }
        return (await ws.api('/channels', { method: 'POST', body })).json.data.id
      }
      const channelIds = [await create(), await create()]
      const report = { every: 'day', at: '02:30', channelIds }
      const alert = { when: 'silent', window: '24h', channelIds: channelIds.slice(0, 1) }
      const { id } = (await ws.api('/views', { method: 'POST', body: { name: 'V', report, alert } })).json
        .data
      const read = async () => (await ws.api(`/views/${id}`)).json.data
      await ws.api(`/channels/${channelIds[0]}`, { method: 'DELETE' })
      const left = { ...report, channelIds: channelIds.slice(1) }
      expect(await read()).toMatchObject({ report: left, nextReportAt: expect.any(String), alert: null })
      expect((await ws.api(`/views/${id}`, { method: 'PATCH', body: { report: left } })).status).toBe(200)
      await ws.api(`/channels/${channelIds[1]}`, { method: 'DELETE' })
      expect(await read()).toMatchObject({ report: null, nextReportAt: null, alert: null })
    })

    quick('an alert tells what is above and below the weeks before, once, and twice a day', async () => {
      receiver ??= await startWebhookReceiver()
      const ws = await server().createWorkspace()
      const body = { type: 'webhook', name: 'Hook', url: receiver.url }
      const channelId = (await ws.post('/channels', body)).json.data.id
      const link = await ws.createLink()
      const alert = { metric: 'clicks', percent: 50, window: '1h', minimum: 2, channelIds: [channelId] }
      const create = (name: string, when: string) => ws.post('/views', { name, alert: { ...alert, when } })
      const above = await create('Up', 'above')
      await create('Down', 'below')
      expect(above.json.data.alert).toEqual({ ...alert, when: 'above' })
      const check = () => sendDueAlerts(toNeeds(server()))
      const told = async () => {
        const rows = await server().rows('deliveries', { event: 'view.alert' })
        return rows.map(({ payload }) => {
          const { name, reason } = JSON.parse(payload ?? '{}')
          return `${name}: ${reason}`
        })
      }
      const midnight = Math.ceil(server().now() / DAY) * DAY
      const goTo = (day: number, clock: number) =>
        server().advanceClock(midnight + (day * 24 + clock) * HOUR - server().now())
      const click = async (day: number, clock: number, count: number) => {
        goTo(day, clock + 0.5)
        for (let i = 0; i < count; i++) await server().click(link.slug)
      }
      /** With the check after the hour. */
      const hour = async (day: number, clock: number, count: number) => {
        await click(day, clock, count)
        await server().waitUntilShipped()
        goTo(day, clock + 1.1)
        await Promise.all([check(), check()])
      }
      for (const [clock, count] of [
        [10, 3],
        [11, 2],
        [12, 2],
      ] as const)
        await click(0, clock, count)
      await hour(0, 13, 2)
      expect(await told()).toEqual([])
      await hour(7, 10, 5)
      const up = 'Up: 5 clicks in the last hour, 3 in the same hour of earlier weeks (+67%)'
      expect(await told()).toEqual([up])
      await hour(7, 11, 1)
      const down = 'Down: 1 click in the last hour, 2 in the same hour of earlier weeks (-50%)'
      expect(await told()).toEqual([up, down])
      await hour(7, 12, 3)
      await hour(7, 13, 3)
      expect(await told()).toHaveLength(3)
      const hook = await until('the alert', () =>
        receiver?.requests.map(({ body }) => JSON.parse(String(body))).find(({ data }) => data.name === 'Up'),
      )
      expect([hook.type, hook.data.count, hook.data.expected]).toEqual(['view.alert', 5, 3])
    })

    quick('an alert names the new links of a view that nobody has clicked, once', async () => {
      receiver ??= await startWebhookReceiver()
      const { url, requests } = receiver
      const ws = await server().createWorkspace()
      const create = async (path: string, body: object) => (await ws.post(path, body)).json.data
      const channel = await create('/channels', { type: 'webhook', name: 'Hook', url })
      const check = () => sendDueAlerts(toNeeds(server()))
      const told = () =>
        requests
          .map(({ body }) => JSON.parse(String(body)))
          .filter(({ data }) => data.when === 'silent')
          .map(({ data }) => [data.name, data.reason, data.links.map(({ id }: { id: number }) => id)])
      const old = await ws.createLink()
      server().advanceClock(25 * HOUR)
      const alert = { when: 'silent', window: '24h', channelIds: [channel.id] }
      const view = await create('/views', { name: 'All', alert })
      expect(view.alert).toEqual(alert)
      await create('/views', { name: 'Own', filters: { slug: 'quiet' }, alert })
      const [clicked, robots, archived, deleted] = [1, 2, 3, 4].map(() => ws.createLink())
      const quiet = await ws.createLink({ slug: 'quiet', tagNames: ['a'] })
      await server().click((await clicked)?.slug ?? '')
      await server().click((await robots)?.slug ?? '', { 'User-Agent': 'Googlebot/2.1' })
      await ws.patch(`/links/${(await archived)?.id}`, { archived: true })
      await ws.delete(`/links/${(await deleted)?.id}`)
      await server().waitUntilShipped()
      server().advanceClock(23 * HOUR)
      await check()
      expect(told()).toEqual([])
      const late = await ws.createLink()
      server().advanceClock(3 * HOUR)
      await Promise.all([check(), check()])
      for (let hours = 0; hours < 30; hours += 3) {
        server().advanceClock(3 * HOUR)
        await check()
      }
      await until('the alerts', () => (told().length === 3 ? true : undefined))
      const host = new URL(server().origin).host
      expect(told().sort((a, b) => String(a).localeCompare(String(b)))).toEqual([
        ['All', `${host}/${late.slug} had no click in its first 24 hours`, [late.id]],
        ['All', '2 new links had no click in their first 24 hours', [(await robots)?.id, quiet.id]],
        ['Own', `${host}/quiet had no click in its first 24 hours`, [quiet.id]],
      ])
      expect(JSON.stringify(told())).not.toContain(old.slug)
      for (const [wrong, field] of [
        [{ minimum: 1 }, 'minimum'],
        [{ metric: 'clicks' }, 'metric'],
        [{ window: '0h' }, 'window'],
      ] as const) {
        const body = { alert: { ...alert, ...wrong } }
        const { status, json } = await ws.patch(`/views/${view.id}`, body)
        expect([status, Object.keys(json.errors)]).toEqual([422, [`alert.${field}`]])
      }
    })

    test.each<[object | null, string]>([
      [{}, 'metric'],
      [{ window: '0h' }, 'window'],
      [{ percent: 0 }, 'percent'],
      [{ when: 'below', percent: 101 }, 'percent'],
      [{ minimum: 0 }, 'minimum'],
      [{ channelIds: [] }, 'channelIds'],
      [{ metric: 'clicks', channelIds: [999_999] }, 'channelIds'],
    ])('an alert is not %j', async (wrong, field) => {
      const ws = await server().createWorkspace()
      const right = { metric: 'leads', when: 'above', percent: 50, window: '6h', minimum: 1, channelIds: [1] }
      // No lead has a trigger.
      const body = { name: 'V', filters: { trigger: 'qr' }, alert: { ...right, ...wrong } }
      const { status, json } = await ws.post('/views', body)
      expect([status, Object.keys(json.errors ?? {})]).toEqual([422, [`alert.${field}`]])
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
      const { status, json } = await ws.post('/views', { name: 'V', report })
      expect([status, Object.keys(json.errors ?? {})]).toEqual([422, expect.arrayContaining([field])])
    })
  },
  { environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } },
)
