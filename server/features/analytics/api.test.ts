import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHit } from '../../../tests/contracts/hit-engine.ts'
import { insertRows, useDatabase } from '../../../tests/support/test-rows.ts'
import { toErrorResponse } from '../../http/error-response.ts'
import { openDuckDb } from '../../storage/hits/duckdb/engine.ts'
import type { Hit } from '../../storage/hits/hit.ts'
import type { HitEngine } from '../../storage/hits/hit-engine.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { createAnalyticsApi } from './api.ts'
import { createSparklinesApi } from './sparklines-api.ts'
import { ASKED_AT, TWO_WORKSPACES } from './two-workspaces.fixture.ts'

let hits: HitEngine
let down = false

const rows = useDatabase('sqlite', async (db, directory) => {
  await insertRows(db, TWO_WORKSPACES)
  hits = await openDuckDb({ path: join(directory, 'hits.duckdb') })
  const path = join(directory, '1.ndjson')
  writeFileSync(path, CLICKS.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await hits.load({ node: 'a', number: 1, path })
})
afterAll(() => hits.close())

const click = (linkId: number, at: string, part: Partial<Hit> = {}) =>
  createHit({ workspaceId: linkId === 4 ? 2 : 1, linkId, at: Date.parse(at), ...part })

const CLICKS = [
  click(1, '2026-03-28T23:30:00Z', { country: 'US', visitor: '1', referrer: 'news.example' }),
  click(1, '2026-03-28T23:45:00Z', { country: 'US', visitor: '1', utmCampaign: 'a,b' }),
  click(1, '2026-03-29T21:59:59.999Z', { country: 'BR', visitor: '2', browser: 'Chrome' }),
  click(2, '2026-03-29T22:00:00Z', { country: null, visitor: '3', trigger: 'qr' }),
  click(3, '2026-02-01T00:00:00Z', { country: 'DE', visitor: '4' }),
  click(1, '2026-03-30T01:00:00Z', { class: 'bot', visitor: '5' }),
  click(1, '2026-03-30T01:00:00Z', { outcome: 'expired', visitor: '6' }),
  click(4, '2026-03-30T01:00:00Z', { country: 'US', visitor: '7' }),
]

async function ask(query: string, workspaceId = 1, about = 'clicks') {
  const app = createApi()
  app.onError((error) => toErrorResponse(error, 'test'))
  app.use(async (c, next) => {
    c.set('actor', { kind: 'key', workspaceId, plan: 'pro', keyId: 1 })
    await next()
  })
  const answers = {
    ask: (asked: Parameters<HitEngine['ask']>[0]) =>
      down ? Promise.reject(new Error('gone')) : hits.ask(asked),
    explain: hits.explain,
    export: hits.export,
    countedUntil: () => ASKED_AT - 500,
  }
  const { db, dataDir } = rows
  const needs = { db, hits: answers, now: () => ASKED_AT, defaultDomain: 'tow.example', scratchDir: dataDir }
  app.route('/', createAnalyticsApi(needs)).route('/', createSparklinesApi(needs))
  const response = await app.request(`/analytics/${about}${query}`)
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape it asks for
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}
const data = async (query: string, workspaceId = 1) => {
  const { status, body } = await ask(query, workspaceId)
  expect([status, body.errors]).toEqual([200, undefined])
  return body.data
}
const clicks = async (query: string) => (await data(query)).clicks
const top = async (query: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: rows of any grouping
  (await data(query)).map(({ clicks, visitors, ...rest }: any) => [Object.values(rest)[0], clicks, visitors])

describe('totals', () => {
  test('count clicks of people in the last 30 days by default', async () => {
    const { status, headers, body } = await ask('')
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { clicks: 4, visitors: 3, start: '2026-03-01T00:00:00.000Z', end: '2026-03-30T10:00:00.001Z' },
    })
    expect(headers.get('X-Counted-Until')).toBe('2026-03-30T09:59:59.500Z')
  })
  test('of all time start with the workspace', async () => {
    expect(await data('?interval=all')).toMatchObject({ clicks: 5, start: '2026-01-15T08:00:00.000Z' })
  })
  test('take an instant as exact, and the end as exclusive', async () => {
    const start = '2026-03-28T23:30:00.000Z'
    expect(await clicks(`?start=${start}&end=2026-03-29T21:59:59.999Z`)).toBe(2)
    expect(await clicks(`?start=${start}&end=2026-03-29T22:00:00Z`)).toBe(3)
    expect(await clicks('?start=2026-03-28T23:30:00.001Z&end=2026-03-29T22:00:00%2B00:00')).toBe(2)
  })
  test('take a date as the whole day in the time zone, with 23 hours when the clock goes forward', async () => {
    expect(await data('?start=2026-03-29&end=2026-03-29&timezone=Europe/Berlin')).toEqual({
      clicks: 3,
      visitors: 2,
      start: '2026-03-28T23:00:00.000Z',
      end: '2026-03-29T22:00:00.000Z',
    })
  })
  test('end now without an end, and start with the workspace without a start', async () => {
    expect(await data('?start=2026-03-29')).toMatchObject({ clicks: 2, end: '2026-03-30T10:00:00.001Z' })
    expect(await data('?end=2026-02-28')).toMatchObject({ clicks: 1, start: '2026-01-15T08:00:00.000Z' })
  })
})

describe('filters', () => {
  test.each([
    ['country=US', 2],
    ['country=us,BR', 3],
    ['country=US&country=BR', 3],
    ['country=-US', 2],
    ['country=-US,BR', 1],
    ['country=Unknown', 1],
    ['country=-Unknown', 3],
    ['referrer=(direct)', 3],
    ['referrer=www.news.example', 1],
    ['utmCampaign=a\\,b', 1],
    ['utmCampaign=a,b', 0],
    ['browser=chrome', 1],
    ['trigger=qr', 1],
    ['class=bot', 1],
    ['class=all', 5],
    ['class=human,bot', 5],
    ['linkId=1', 3],
    ['linkId=-1', 1],
    ['linkId=4', 0],
    ['linkId=-4', 4],
    ['slug=SPRING', 4],
    ['slug=theirs', 0],
    ['slug=-theirs', 4],
    ['domain=tow.example', 3],
    ['domain=-Tow.Example', 1],
    ['domain=go.example.com', 1],
    ['tagId=1', 3],
    ['tagId=2', 3],
    ['tagId=-1', 1],
    ['tagId=3', 0],
    ['tagId=-3', 4],
    ['tagId=1&country=US', 2],
    ["city=';DROP TABLE hits", 0],
  ])('%s', async (query, expected) => {
    expect(await clicks(`?${query}`)).toBe(expected)
  })
  test('count clicks of a deleted link, also under its tags', async () => {
    expect(await clicks('?interval=all&linkId=3')).toBe(1)
    expect(await clicks('?interval=all&tagId=1')).toBe(4)
    expect(await clicks('?interval=all&slug=old')).toBe(1)
  })
})

describe('groups', () => {
  test.each(['link', 'linkId'])('%s', async (name) => {
    expect(await data(`?interval=all&groupBy=${name}`)).toEqual([
      {
        link: 1,
        slug: 'Spring',
        domain: 'tow.example',
        destinationUrl: 'https://example.com/1',
        deleted: false,
        clicks: 3,
        visitors: 2,
      },
      {
        link: 2,
        slug: 'spring',
        domain: 'go.example.com',
        destinationUrl: 'https://example.com/2',
        deleted: false,
        clicks: 1,
        visitors: 1,
      },
      {
        link: 3,
        slug: 'old',
        domain: 'tow.example',
        destinationUrl: 'https://example.com/3',
        deleted: true,
        clicks: 1,
        visitors: 1,
      },
    ])
  })
  test.each(['tag', 'tagId'])('%s', async (name) => {
    expect(await data(`?interval=all&groupBy=${name}`)).toEqual([
      { tag: 1, name: 'Mail', clicks: 4, visitors: 3 },
      { tag: 2, name: 'Ads', clicks: 3, visitors: 2 },
    ])
    expect(await data(`?groupBy=${name}&country=FR`)).toEqual([])
  })
  test('slug and domain', async () => {
    expect(await top('?interval=all&groupBy=slug')).toEqual([
      ['spring', 4, 3],
      ['old', 1, 1],
    ])
    expect(await top('?interval=all&groupBy=domain')).toEqual([
      ['tow.example', 4, 3],
      ['go.example.com', 1, 1],
    ])
  })
})

describe('sparklines', () => {
  const list = async (linkIds: string, workspaceId?: number) =>
    (await ask(`?linkIds=${linkIds}`, workspaceId, 'sparklines')).body.data.map(
      ({ linkId, clicks }: { linkId: number; clicks: number[] }) => [linkId, clicks.length, clicks.slice(-3)],
    )

  test('count the clicks of people on the last 30 days, of links of the workspace alone', async () => {
    expect((await list('1,2,3,4,99')).sort()).toEqual([
      [1, 30, [2, 1, 0]],
      [2, 30, [0, 1, 0]],
    ])
    expect(await list('1,4', 2)).toEqual([[4, 30, [0, 0, 1]]])
    expect(await list('1', 2)).toEqual([])
  })
  test.each(['', 'x', '1,', '-1', '1;2', Array.from({ length: 101 }, (_, n) => n).join(',')])(
    'refuse the ids %s',
    async (linkIds) => {
      expect((await ask(`?linkIds=${linkIds}`, 1, 'sparklines')).status).toBe(422)
    },
  )
})

describe('timelines', () => {
  test.each([
    ['interval=24h', 24],
    ['interval=7d', 7],
    ['', 30],
    ['interval=90d&granularity=week&timezone=America/New_York', 14],
    ['start=2026-03-29&end=2026-03-29&granularity=hour&timezone=Europe/Berlin', 23],
    ['start=2025-10-26&end=2025-10-26&granularity=hour&timezone=Europe/Berlin', 25],
    ['interval=all&granularity=month', 3],
  ])('%s has %d buckets that add up', async (query, count) => {
    const buckets: { clicks: number }[] = await data(`?groupBy=time&${query}`)
    expect(buckets).toHaveLength(count)
    const total = await clicks(`?${query.replace(/&?granularity=\w+/, '')}`)
    expect(buckets.reduce((sum, each) => sum + each.clicks, 0)).toBe(total)
  })
})

describe('wrong parameters', () => {
  test.each([
    ['colour=red', 'colour', 'is not a known parameter'],
    ['interval=2w', 'interval', 'must be one of'],
    ['interval=7d&start=2026-03-01', 'interval', 'cannot be combined'],
    ['timezone=Mars/Base', 'timezone', 'IANA'],
    ['timezone=%2B02:00', 'timezone', 'IANA'],
    ['start=yesterday', 'start', 'ISO 8601'],
    ['end=2026-02-30', 'end', 'ISO 8601'],
    ['start=2026-03-29&start=2026-03-30', 'start', 'must be given once'],
    ['start=2026-03-30&end=2026-03-29', 'start', 'must be before end'],
    ['start=2026-03-29T10:00:00Z&end=2026-03-29T10:00:00Z', 'start', 'must be before end'],
    ['start=2030-01-01', 'start', 'must be in the past'],
    ['end=2020-01-01', 'end', 'must be after the workspace was created'],
    ['groupBy=planet', 'groupBy', 'must be one of'],
    ['groupBy=time&granularity=year', 'granularity', 'must be one of'],
    ['granularity=day', 'granularity', 'groupBy=time'],
    ['groupBy=time&granularity=minute', 'granularity', 'the finest that fits is hour'],
    ['groupBy=time&granularity=day&start=0001-01-01', 'granularity', 'choose a shorter range'],
    ['groupBy=time&start=0001-01-01', 'granularity', 'choose a shorter range'],
    ['groupBy=country&limit=0', 'limit', 'from 1 to 1000'],
    ['groupBy=country&limit=1001', 'limit', 'from 1 to 1000'],
    ['groupBy=country&limit=1.5', 'limit', 'whole number'],
    ['groupBy=time&limit=5', 'limit', 'groupBy'],
    ['class=robot', 'class', 'must be any of'],
    ['trigger=nfc', 'trigger', 'must be any of'],
    ['linkId=abc', 'linkId', 'whole numbers'],
    ['country=', 'country', 'must not be empty'],
    ['country=US,,BR', 'country', 'must not be empty'],
    ['country=US,-BR', 'country', 'cannot mix'],
    ['city=a%00b', 'city', 'NUL'],
  ])('%s', async (query, field, words) => {
    const { status, body } = await ask(`?${query}`)
    expect(status).toBe(422)
    expect(Object.keys(body.errors)).toEqual([field])
    expect(body.errors[field]).toContain(words)
    expect(body.error).toBe(`${field}: ${body.errors[field]}`)
  })
  test('are all named in one answer', async () => {
    const { body } = await ask('?interval=x&limit=x&foo=1')
    expect(Object.keys(body.errors).sort()).toEqual(['foo', 'interval', 'limit'])
  })
})

test('answers 503 when the engine cannot answer', async () => {
  down = true
  try {
    const { status, body, headers } = await ask('')
    expect([status, body.error]).toEqual([503, 'Temporarily unavailable'])
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
  } finally {
    down = false
  }
})

test('the API reference names every parameter and every shape of answer', () => {
  const document = createAnalyticsApi({
    db: rows.db,
    hits: { ...hits, countedUntil: () => 0 },
    now: () => ASKED_AT,
    defaultDomain: 'tow.example',
    scratchDir: rows.dataDir,
  }).getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
  const operation = document.paths?.['/analytics/clicks']?.get
  const names = operation?.parameters?.map((each) => ('name' in each ? each.name : ''))
  expect(names).toEqual(expect.arrayContaining(['utmCampaign', 'imported']))
  expect(names).toHaveLength(8 + 1 + 23)
  expect(Object.keys(document.components?.schemas ?? {})).toContain('ClickBucket')
})
