import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { BROWSER_USER_AGENT, onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'
import { Failure } from '../../lib/failure.ts'
import { readDays } from './read-days.ts'
import { explainDay } from './reconcile.ts'

setDefaultTimeout(60_000)

const GA4_SNAPSHOT = `# ----------------------------------------
# Reports snapshot
# Account: Larkfield
# ----------------------------------------
#
# Start date: 20260510
# End date: 20260512
Nth day,Active users,Previous period
0000,1,3
0001,"1,204",0
0002,7,1

# Start date: 20260510
# End date: 20260512
Country,Active users
Germany,4
`

type Read = { tool: unknown; countColumn: string; metric: string; counts: [string, number][] }

const FILES: [name: string, csv: string, options: Parameters<typeof readDays>[1], read: Read][] = [
  [
    'GA4, days by number',
    GA4_SNAPSHOT,
    {},
    {
      tool: 'ga4',
      countColumn: 'Active users',
      metric: 'visitors',
      counts: [
        ['2026-05-10', 1],
        ['2026-05-11', 1204],
        ['2026-05-12', 7],
      ],
    },
  ],
  [
    'GA4, an exploration with sums and another dimension',
    '# Exploration\n\nDate,Device,Sessions\n,,12,Grand total\n20260510,mobile,7\n20260510,desktop,5\n',
    {},
    { tool: 'ga4', countColumn: 'Sessions', metric: 'clicks', counts: [['2026-05-10', 12]] },
  ],
  [
    'GA4 by hour',
    'Date + hour (YYYYMMDDHH),Event count\n2026051000,3\n2026051023,4\n',
    {},
    { tool: 'ga4', countColumn: 'Event count', metric: 'clicks', counts: [['2026-05-10', 7]] },
  ],
  [
    'Plausible',
    'date,visitors,pageviews,visits,views_per_visit,bounce_rate,visit_duration\n2026-05-10,5,9,6,1.5,50,12.5\n',
    {},
    { tool: 'plausible', countColumn: 'visits', metric: 'clicks', counts: [['2026-05-10', 6]] },
  ],
  [
    'Plausible, its visitors',
    'date,visitors,pageviews,visits,bounce_rate\n2026-05-10,5,9,6,50\n',
    { countColumn: 'Visitors' },
    { tool: 'plausible', countColumn: 'visitors', metric: 'visitors', counts: [['2026-05-10', 5]] },
  ],
  [
    'Bitly',
    '\ufeffDate (UTC),Total Engagements\r\n2026-05-10T00:00:00+0000,12\r\n2026-05-11T00:00:00+0000,0\r\n',
    {},
    {
      tool: 'bitly',
      countColumn: 'Total Engagements',
      metric: 'clicks',
      counts: [
        ['2026-05-10', 12],
        ['2026-05-11', 0],
      ],
    },
  ],
  [
    'a spreadsheet, whose dates one row decides',
    'Day;Clicks\n10/05/2026;1.234\n13/05/2026;5\nTotal;1.239\n',
    {},
    {
      tool: null,
      countColumn: 'Clicks',
      metric: 'clicks',
      counts: [
        ['2026-05-10', 1234],
        ['2026-05-13', 5],
      ],
    },
  ],
  [
    'words for months, and numbers with decimals of zero',
    'date\tclicks\nMay 10, 2026\t12.0\n',
    { metric: 'visitors' },
    { tool: null, countColumn: 'clicks', metric: 'visitors', counts: [['2026-05-10', 12]] },
  ],
]

const REFUSED: [csv: string, field: string, message: RegExp][] = [
  ['hello', 'csv', /no column named Date.*"hello"/],
  ['{"date": 1}', 'csv', /JSON or HTML/],
  ['<!doctype html><table>', 'csv', /JSON or HTML/],
  ['%PDF-1.7\n%âãÏÓ', 'csv', /no column named Date/],
  ['date,name\n2026-05-10,Ada', 'csv', /no column of numbers.*"name"/],
  ['date,clicks', 'csv', /no row/],
  ['date,clicks\n2026-05-10,many', 'csv', /row 2: "many" in "clicks" is not a whole number/],
  ['date,clicks\n2026-05-10,-3', 'csv', /row 2/],
  ['date,clicks\n2026-05-10,1.5', 'csv', /row 2/],
  ['date,clicks\n2026-05-10,', 'csv', /row 2/],
  ['date,clicks\n2026-05-32,1', 'csv', /row 2/],
  ['date,clicks\nyesterday,1', 'csv', /row 2/],
  ['date,clicks\n2026-05-10,1,2,3', 'csv', /row 2: The row has 4 cells/],
  ['date,clicks\n"2026-05-10,1', 'csv', /quote/],
  ['date,clicks\n03/04/2026,1', 'dateOrder', /two days/],
  ['date,clicks\n2025-01-01,1\n2026-05-10,1', 'csv', /at most 400 days/],
  ['Nth day,Users\n0001,1', 'csv', /Start date/],
]

describe('the file of another tool', () => {
  test.each(FILES)('%s', (_, csv, options, { counts, ...read }) => {
    const days = readDays(csv, options)
    expect(days).toMatchObject(read)
    expect([...days.counts]).toEqual(counts)
  })

  test.each(REFUSED)('%p is refused with a sentence', (csv, field, message) => {
    try {
      readDays(csv, {})
      expect('an error').toBe('none')
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      expect(Object.keys(error.detail.errors ?? {})).toEqual([field])
      expect(error.detail.errors?.[field]).toMatch(message)
    }
  })
})

const NONE = { bot: 0, prefetch: 0, head: 0, spam: 0 }
const DAY = { theirs: 100, ours: 100, inTheirZone: 100, leftOut: NONE as never, imported: 0, landings: null }

/** A day, and how much of the difference is explained and not. */
const DAYS: [
  figures: Partial<Parameters<typeof explainDay>[1]>,
  difference: number | null,
  explained: number | null,
  rest: number | null,
][] = [
  [{}, 0, 0, 0],
  [{ theirs: null }, null, null, null],
  [{ theirs: 0, ours: 0, inTheirZone: 0 }, 0, 0, 0],
  // They count more: robots and the like, but never more than the difference.
  [{ theirs: 130, leftOut: { ...NONE, bot: 20 } as never }, 30, 20, 10],
  [{ theirs: 110, leftOut: { ...NONE, bot: 20, head: 5 } as never }, 10, 10, 0],
  // Nothing that makes us count more explains that they do.
  [{ theirs: 130, imported: 50, landings: 10 }, 30, 0, 30],
  // They count less: imported clicks, and people whom the snippet did not see.
  [{ theirs: 70, leftOut: { ...NONE, bot: 50 } as never }, -30, 0, -30],
  [{ theirs: 70, imported: 10 }, -30, -10, -20],
  [{ theirs: 70, landings: 60 }, -30, -30, 0],
  [{ theirs: 70, landings: 90 }, -30, -10, -20],
  [{ theirs: 70, imported: 20, landings: 75 }, -30, -25, -5],
  [{ theirs: 70, landings: 200 }, -30, 0, -30],
  // The time zone is exact, whichever way it goes.
  [{ theirs: 120, inTheirZone: 120 }, 20, 20, 0],
  [{ theirs: 120, inTheirZone: 130, landings: 125 }, 20, 25, -5],
  [{ theirs: 90, inTheirZone: 80, leftOut: { ...NONE, bot: 5 } as never }, -10, -15, 5],
]

describe('the difference of a day', () => {
  test.each(DAYS)('%p', (figures, difference, explained, unexplained) => {
    const day = explainDay('2026-05-10', { ...DAY, ...figures })
    expect(day).toMatchObject({ difference, explained, unexplained })
  })
})

const EVENING = Date.parse('2026-05-10T22:30:00Z')
let now = EVENING

onBothEngines(
  'POST /reconcile',
  (server) => {
    let ws: TestWorkspace
    let linkId = 0
    const post = (body: unknown, team = ws) => team.post('/reconcile', body)

    beforeAll(async () => {
      now = EVENING
      ws = await server().createWorkspace()
      const { slug, id } = await ws.createLink({ slug: 'compared' })
      linkId = id
      const other = await ws.createLink({ slug: 'other' })
      // 22:30 in UTC is the next day in Berlin.
      for (let n = 0; n < 3; n++) await server().click(slug)
      await server().click(slug, { 'User-Agent': 'Googlebot/2.1' })
      await server().click(slug, { 'Sec-Purpose': 'prefetch' })
      now += 12 * 60 * 60 * 1000
      await server().click(slug)
      await server().click(other.slug)
      await server().waitUntilShipped()
    })

    test('answers day by day, in both time zones', async () => {
      const csv = 'date,clicks\n2026-05-10,6\n2026-05-11,0\n'
      const filters = { linkId: String(linkId) }
      const { status, json } = await post({ csv, filters })
      expect([status, json.error]).toEqual([200, undefined])
      const leftOut = { bot: 1, prefetch: 1 }
      expect(json.data).toMatchObject({
        tool: null,
        dateColumn: 'date',
        countColumn: 'clicks',
        metric: 'clicks',
        timezone: 'UTC',
        theirTimezone: 'UTC',
        days: [
          { day: '2026-05-10', theirs: 6, ours: 3, difference: 3, leftOut, explained: 2, unexplained: 1 },
          { day: '2026-05-11', theirs: 0, ours: 1, difference: -1, explained: 0, unexplained: -1 },
        ],
        total: { theirs: 6, ours: 4, difference: 2, explained: 2, unexplained: 0, withoutVisit: null },
      })
      expect(json.data.notes).toContain('The last day is not over.')
      const berlin = await post({ csv, filters, theirTimezone: 'Europe/Berlin' })
      expect(berlin.json.data.days).toMatchObject([
        { ours: 3, timeZoneShift: -3, leftOut: { bot: 0 }, explained: -3, unexplained: 6 },
        { ours: 1, timeZoneShift: 3, explained: 3, unexplained: -4 },
      ])
      const all = await post({ csv, timezone: 'Europe/Berlin' })
      expect(all.json.data.days).toMatchObject([{ ours: 0 }, { ours: 5, timeZoneShift: 0 }])
      // The figures are those of the analytics.
      const { data } = (
        await ws.api('/analytics/clicks?start=2026-05-11&end=2026-05-11&timezone=Europe/Berlin')
      ).json
      expect(data.clicks).toBe(5)
      const visitors = await post({ csv, metric: 'visitors', filters })
      expect(visitors.json.data.days[0]).toMatchObject({ ours: 1, leftOut: { bot: 1 } })
    })

    test('lists the days between, and says which ones the file leaves out', async () => {
      const { json } = await post({ csv: 'date,clicks\n2026-05-10,3\n2026-05-12,1\n' })
      expect(json.data.days.map(({ day, theirs }: Record<string, unknown>) => [day, theirs])).toEqual([
        ['2026-05-10', 3],
        ['2026-05-11', null],
        ['2026-05-12', 1],
      ])
      expect(json.data.total).toMatchObject({ theirs: 4, ours: 3 })
    })

    test('knows the people whom the snippet did not see, and no visit without a click', async () => {
      const site = await server().createWorkspace()
      const { slug } = await site.createLink({ slug: 'seen', trackConversions: true })
      const { snippet } = (await site.api('/workspace')).json.data
      const w = /data-workspace="([^"]+)"/.exec(snippet)?.[1]
      const see = (u: string) => {
        const headers = { 'User-Agent': BROWSER_USER_AGENT, 'Content-Type': 'text/plain;charset=UTF-8' }
        return server().post('/e', JSON.stringify({ w, u, r: '' }), headers)
      }
      const clicks = [await server().click(slug), await server().click(slug), await server().click(slug)]
      await see(clicks[0]?.headers.get('location') as string)
      await see('https://example.com/found-by-itself')
      await server().waitUntilShipped()
      const { json } = await post({ csv: 'date,visits\n2026-05-11,1\n' }, site)
      const known = { ours: 3, difference: -2, withoutVisit: 2, explained: -2, unexplained: 0 }
      expect(json.data.days).toMatchObject([known])
    })

    test('refuses what is no question, with the field', async () => {
      const csv = 'date,clicks\n2026-05-10,3\n'
      const wrong: [unknown, string][] = [
        [{}, 'csv'],
        [{ csv: '' }, 'csv'],
        [{ csv: 'nothing' }, 'csv'],
        [{ csv, timezone: 'Mars' }, 'timezone'],
        [{ csv, theirTimezone: '' }, 'theirTimezone'],
        [{ csv, metric: 'leads' }, 'metric'],
        [{ csv, countColumn: 'Users' }, 'countColumn'],
        [{ csv, filters: { planet: 'Mars' } }, 'filters.planet'],
        [{ csv, filters: { linkId: 'x' } }, 'filters.linkId'],
        [{ csv, more: 1 }, 'more'],
      ]
      for (const [body, field] of wrong) {
        const { status, json } = await post(body)
        expect([body, status, Object.keys(json.errors)]).toEqual([body, 422, [field]])
      }
      const stranger = await server().createWorkspace()
      const theirs = await post({ csv, filters: { linkId: String(linkId) } }, stranger)
      expect(theirs.json.data.total).toMatchObject({ ours: 0, difference: 3, unexplained: 3 })
    })
  },
  { now: () => now },
)
