import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHit } from '../../../tests/contracts/hit-engine.ts'
import { formRow, insertRows, useDatabase } from '../../../tests/support/test-rows.ts'
import { ENGINES } from '../../../tests/support/world.ts'
import { toErrorResponse } from '../../http/error-response.ts'
import type { Touches } from '../../storage/database/tables/form-tables.ts'
import { openDuckDb } from '../../storage/hits/duckdb/engine.ts'
import type { Hit } from '../../storage/hits/hit.ts'
import type { HitEngine } from '../../storage/hits/hit-engine.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { insertSubmissions, type TestSubmission } from '../forms/submissions/submission.fixture.ts'
import { createAnalyticsBatchApi } from './batch-api.ts'
import { createLeadsApi, type LeadsApiNeeds } from './leads-api.ts'
import { ASKED_AT, BEGAN, TWO_WORKSPACES } from './two-workspaces.fixture.ts'
import { withoutOutcomes } from './without-outcomes.fixture.ts'

const THINGS = {
  ...TWO_WORKSPACES,
  forms: [
    formRow({ id: 1, form_key: 'aaaaaaaaaa', name: 'Contact' }),
    formRow({ id: 2, form_key: 'bbbbbbbbbb', name: 'Quote' }),
    formRow({ id: 3, workspace_id: 2, form_key: 'cccccccccc', name: 'Theirs' }),
  ],
}

const sent = (moment: string, part: TestSubmission = {}): TestSubmission => ({
  created_at: Date.parse(moment),
  ...part,
})

/** Workspace 1 has six leads, one of them old, and a duplicate and a spam submission, which are no leads. */
const OF_CONTACT: TestSubmission[] = [
  sent('2026-03-28T23:30:00Z', { link_id: 1, visitor: '1', country: 'US', referrer: 'news.example' }),
  sent('2026-03-29T00:30:00Z', { link_id: 2, visitor: '1', country: 'US', utm_campaign: 'a,b' }),
  sent('2026-03-29T21:59:59.999Z', {
    visitor: '2',
    country: 'BR',
    browser: 'Chrome',
    page_url: 'https://s.example/a',
  }),
  sent('2026-03-29T22:00:00Z', { link_id: 1, visitor: '2', country: 'BR', duplicate_of: 3 }),
  sent('2026-03-29T22:00:00Z', { link_id: 1, visitor: '9', country: 'US', status: 'spam' }),
  sent('2026-02-01T00:00:00Z', { link_id: 3, visitor: '4', country: 'DE' }),
]
const OF_QUOTE: TestSubmission[] = [
  sent('2026-03-29T22:00:00Z', { visitor: '3', status: 'archived' }),
  sent('2026-03-30T01:00:00Z'),
]

const NOTHING = { utm_source: null, utm_medium: null, utm_term: null, utm_content: null, landing_url: null }
const touch = (part: Partial<Touches> & Pick<Touches, 'position'>) => ({
  ...NOTHING,
  workspace_id: 1,
  submission_id: 8,
  touches: 2,
  at: BEGAN,
  kind: 'click',
  link_id: null,
  click_id: null,
  referrer: null,
  utm_campaign: null,
  ...part,
})
/** The last submission of OF_QUOTE: the first touch is link 2 of a campaign, the last touch is link 1. */
const TOUCHES = [
  touch({ position: 0, link_id: 2, utm_campaign: 'first', referrer: 'first.example' }),
  touch({ position: 1, link_id: 1, utm_campaign: 'last', referrer: null }),
]

const seen = (linkId: number, part: Partial<Hit> = {}) =>
  createHit({
    workspaceId: linkId === 4 ? 2 : 1,
    linkId,
    at: Date.parse('2026-03-29T12:00:00Z'),
    country: 'US',
    ...part,
  })
const HITS = [
  ...[1, 2, 3, 4, 5].map((visitor) => seen(1, { visitor: `${visitor}`, utmCampaign: 'last' })),
  seen(2, { country: 'BR' }),
  seen(2, { utmCampaign: 'a,b', referrer: 'news.example' }),
  seen(1, { class: 'bot' }),
  seen(1, { at: Date.parse('2026-02-01T00:00:00Z') }),
  seen(4),
  seen(1, { outcome: 'landing' }),
  seen(1, { outcome: 'landing', utmCampaign: 'last' }),
  seen(1, { outcome: 'landing', class: 'bot' }),
  seen(1, { outcome: 'view' }),
  seen(0, { outcome: 'landing', country: 'FR', referrer: 'search.example', workspaceId: 1 }),
]

describe.each(ENGINES)('leads over REST (%s)', (engine) => {
  let hits: HitEngine
  const settled: number[] = []
  let down = false

  const rows = useDatabase(engine, async (db, directory) => {
    await insertRows(db, THINGS)
    await db.write(async (connection) => {
      await insertSubmissions(connection, { workspaceId: 1, formId: 1 }, OF_CONTACT)
      await insertSubmissions(connection, { workspaceId: 1, formId: 2 }, OF_QUOTE)
      await connection.insertInto('touches').values(TOUCHES).execute()
      await insertSubmissions(connection, { workspaceId: 2, formId: 3 }, [
        sent('2026-03-30T01:00:00Z', { link_id: 4, visitor: '7', country: 'US' }),
      ])
    })
    hits = await openDuckDb({ path: join(directory, 'hits.duckdb') })
    const path = join(directory, '1.ndjson')
    writeFileSync(path, HITS.map((each) => `${JSON.stringify(each)}\n`).join(''))
    await hits.load({ node: 'a', number: 1, path })
  })
  afterAll(() => hits.close())

  const needs = (): LeadsApiNeeds => ({
    db: rows.db,
    hits: {
      ask: (asked) => (down ? Promise.reject(new Error('gone')) : hits.ask(asked)),
      explain: hits.explain,
      countedUntil: () => ASKED_AT - 500,
    },
    now: () => ASKED_AT,
    defaultDomain: 'tow.example',
    resolvePendingAttribution: async (workspaceId) => void settled.push(workspaceId),
  })
  const api = () => createLeadsApi(needs())

  async function ask(path: string, workspaceId = 1, body?: object) {
    const app = createApi()
    app.onError((error) => toErrorResponse(error, 'test'))
    app.use(async (c, next) => {
      c.set('actor', { kind: 'key', workspaceId, plan: 'pro', keyId: 1 })
      await next()
    })
    app.route('/', api())
    app.route('/', createAnalyticsBatchApi(needs()))
    const response = await app.request(
      `/analytics/${path}`,
      body && { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } },
    )
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape it asks for
    return { status: response.status, headers: response.headers, body: (await response.json()) as any }
  }
  const data = async (path: string, workspaceId = 1) => {
    const { status, body } = await ask(path, workspaceId)
    expect([status, body.errors]).toEqual([200, undefined])
    return withoutOutcomes(body.data)
  }
  const leads = (query: string, workspaceId = 1) => data(`leads${query}`, workspaceId)
  const top = async (query: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: rows of any grouping
    (await leads(query)).map(({ leads, visitors, ...rest }: any) => [Object.values(rest)[0], leads, visitors])

  test('a batch has the answers of each question, in their order', async () => {
    const questions = [
      { about: 'funnel', query: { linkId: '-0' } },
      { about: 'leads', query: {} },
      { about: 'leads', query: { groupBy: 'form', linkId: ['1', '2'], limit: '5' } },
    ]
    const { status, body, headers } = await ask('batch', 1, { questions })
    const single = await Promise.all(
      ['funnel?linkId=-0', 'leads', 'leads?groupBy=form&linkId=1&linkId=2&limit=5'].map((path) => ask(path)),
    )
    expect(status).toBe(200)
    expect(body.data).toEqual(single.map((each) => each.body))
    expect(headers.get('X-Counted-Until')).toBe('2026-03-30T09:59:59.500Z')
  })
  test.each([
    ['no question', { questions: [] }, 'questions'],
    ['another subject', { questions: [{ about: 'forms', query: {} }] }, 'questions.0.about'],
    ['an unknown parameter', { questions: [{ about: 'leads', query: { colour: 'red' } }] }, 'questions.0'],
    [
      'a parameter of the other subject',
      { questions: [{ about: 'clicks', query: { form: 'a' } }] },
      'questions.0',
    ],
    ['an explanation', { questions: [{ about: 'leads', query: { explain: '1' } }] }, 'questions.0'],
    [
      'a value that is refused',
      {
        questions: [
          { about: 'leads', query: {} },
          { about: 'leads', query: { timezone: 'Mars/Base' } },
        ],
      },
      'questions.1.timezone',
    ],
  ])('a batch with %s is refused as a whole', async (_, body, field) => {
    const refused = await ask('batch', 1, body)
    expect(refused.status).toBe(422)
    expect(Object.keys(refused.body.errors)).toEqual([field])
  })

  describe('totals', () => {
    test('count the last 30 days by default, after pending attribution is resolved', async () => {
      settled.length = 0
      expect(await leads('')).toEqual({
        leads: 5,
        visitors: 3,
        start: '2026-03-01T00:00:00.000Z',
        end: '2026-03-30T10:00:00.001Z',
      })
      expect(settled).toEqual([1])
    })
    test('of all time start with the workspace, and include leads of a deleted link', async () => {
      expect(await leads('?interval=all')).toMatchObject({ leads: 6, start: '2026-01-15T08:00:00.000Z' })
      expect(await leads('?interval=all&linkId=3')).toMatchObject({ leads: 1 })
      expect(await leads('?interval=all&slug=old')).toMatchObject({ leads: 1 })
    })
    test('take a date as the whole day in the time zone', async () => {
      expect(await leads('?start=2026-03-29&end=2026-03-29&timezone=Europe/Berlin')).toEqual({
        leads: 3,
        visitors: 2,
        start: '2026-03-28T23:00:00.000Z',
        end: '2026-03-29T22:00:00.000Z',
      })
    })
  })

  describe('filters', () => {
    test.each([
      ['country=US', 2],
      ['country=us,BR', 3],
      ['country=-US', 3],
      ['country=Unknown', 2],
      ['continent=NA', 2],
      ['continent=-na,SA', 2],
      ['referrer=(direct)', 4],
      ['referrer=www.news.example', 1],
      ['utmCampaign=a\\,b', 1],
      ['utmCampaign=a,b', 0],
      ['browser=chrome', 1],
      ['form=aaaaaaaaaa', 3],
      ['form=-aaaaaaaaaa', 2],
      ['form=cccccccccc', 0],
      ['page=https://s.example/a', 1],
      ['page=Unknown', 4],
      ['linkId=1', 2],
      ['linkId=-1', 3],
      ['linkId=-0', 3],
      ['linkId=4', 0],
      ['slug=SPRING', 3],
      ['slug=theirs', 0],
      ['slug=Unknown', 2],
      ['slug=-Unknown,SPRING', 0],
      ['domain=tow.example', 2],
      ['domain=Unknown', 2],
      ['domain=-tow.example', 3],
      ['tagId=1', 2],
      ['tagId=-1', 3],
      ['tagId=3', 0],
      ['tagId=1&country=US', 1],
      ["city=';DROP TABLE submissions", 0],
      ['linkId=1&model=first', 1],
      ['linkId=2&model=first', 2],
      ['linkId=1&model=linear', 1.5],
      ['utmCampaign=first&model=linear', 0.5],
      ['utmCampaign=first', 0],
    ])('%s', async (query, expected) => {
      expect((await leads(`?${query}`)).leads).toBe(expected)
    })
  })

  describe('groups', () => {
    test('forms by their key and name', async () => {
      expect(await leads('?groupBy=form')).toEqual([
        { form: 'aaaaaaaaaa', name: 'Contact', leads: 3, visitors: 2 },
        { form: 'bbbbbbbbbb', name: 'Quote', leads: 2, visitors: 1 },
      ])
    })
    test('slugs and domains in their current spelling', async () => {
      expect(await top('?interval=all&groupBy=slug')).toEqual([
        ['spring', 3, 1],
        ['Unknown', 2, 2],
        ['old', 1, 1],
      ])
      expect(await top('?interval=all&groupBy=domain')).toEqual([
        ['tow.example', 3, 2],
        ['Unknown', 2, 2],
        ['go.example.com', 1, 1],
      ])
    })
  })

  describe('timelines', () => {
    test.each([
      ['interval=24h', 24],
      ['', 30],
      ['interval=90d&granularity=week&timezone=America/New_York', 14],
      ['start=2026-03-29&end=2026-03-29&granularity=hour&timezone=Europe/Berlin', 23],
      ['start=2026-03-29&end=2026-03-29&granularity=minute&timezone=Asia/Kathmandu', 1440],
      ['start=2025-10-26&end=2025-10-26&granularity=hour&timezone=Europe/Berlin', 25],
      ['interval=all&granularity=month', 3],
    ])('%s has %d buckets that add up', async (query, count) => {
      const buckets: { leads: number }[] = await leads(`?groupBy=time&${query}`)
      expect(buckets).toHaveLength(count)
      const { leads: total } = await leads(`?${query.replace(/&?granularity=\w+/, '')}`)
      expect(buckets.reduce((sum, each) => sum + each.leads, 0)).toBe(total)
    })
  })

  describe('the funnel', () => {
    const stages = (clicks: number, visits: number, leads: number, rate: number | null) => ({
      clicks,
      visits,
      leads,
      rate,
    })

    test('has the totals of clicks, visits and leads', async () => {
      const { body, headers } = await ask('funnel')
      expect(withoutOutcomes(body.data)).toEqual({
        ...stages(7, 3, 5, 0.2857),
        start: '2026-03-01T00:00:00.000Z',
        end: '2026-03-30T10:00:00.001Z',
      })
      expect(headers.get('X-Counted-Until')).toBe('2026-03-30T09:59:59.500Z')
      expect(await data('funnel?linkId=-0')).toMatchObject(stages(7, 2, 3, 0.2857))
      expect(await data('funnel?linkId=3')).toMatchObject(stages(0, 0, 0, null))
    })
    test.each(['link', 'linkId'])(
      'by %s: the most clicks first, then groups without clicks',
      async (name) => {
        expect(await data(`funnel?interval=all&groupBy=${name}`)).toEqual([
          {
            link: 1,
            slug: 'Spring',
            domain: 'tow.example',
            destinationUrl: 'https://example.com/1',
            deleted: false,
            ...stages(6, 2, 2, 0.3333),
          },
          {
            link: 2,
            slug: 'spring',
            domain: 'go.example.com',
            destinationUrl: 'https://example.com/2',
            deleted: false,
            ...stages(2, 0, 1, 0.5),
          },
          {
            link: null,
            slug: null,
            domain: null,
            destinationUrl: null,
            deleted: false,
            ...stages(0, 1, 2, null),
          },
          {
            link: 3,
            slug: 'old',
            domain: 'tow.example',
            destinationUrl: 'https://example.com/3',
            deleted: true,
            ...stages(0, 0, 1, null),
          },
        ])
      },
    )
    test('by link, up to the limit', async () => {
      for (const limit of [1, 2, 3]) {
        const some = await data(`funnel?interval=all&groupBy=link&limit=${limit}`)
        expect(some).toEqual((await data('funnel?interval=all&groupBy=link')).slice(0, limit))
      }
    })
    test.each(['tag', 'tagId'])('by %s', async (name) => {
      expect(await data(`funnel?groupBy=${name}`)).toEqual([
        { tag: 1, name: 'Mail', ...stages(5, 2, 2, 0.2) },
        { tag: 2, name: 'Ads', ...stages(5, 2, 2, 0.2) },
      ])
      expect(await data(`funnel?groupBy=${name}&limit=1`)).toHaveLength(1)
      expect(await data(`funnel?groupBy=${name}`, 2)).toEqual([
        { tag: 3, name: 'Theirs', ...stages(1, 0, 1, 1) },
      ])
    })
    test.each(['campaign', 'utmCampaign'])('by %s', async (name) => {
      expect(await data(`funnel?groupBy=${name}`)).toEqual([
        { campaign: 'last', ...stages(5, 1, 1, 0) },
        { campaign: 'Unknown', ...stages(1, 2, 3, 1) },
        { campaign: 'a,b', ...stages(1, 0, 1, 1) },
      ])
      expect(await data(`funnel?groupBy=${name}&model=linear`)).toContainEqual({
        campaign: 'last',
        ...stages(5, 1, 0.5, 0),
      })
    })
    test('by referrer and country', async () => {
      expect(await data('funnel?groupBy=referrer')).toEqual([
        { referrer: '(direct)', ...stages(6, 2, 4, 0.1667) },
        { referrer: 'news.example', ...stages(1, 0, 1, 1) },
        { referrer: 'search.example', ...stages(0, 1, 0, null) },
      ])
      expect(await data('funnel?groupBy=country&country=-Unknown')).toEqual([
        { country: 'US', ...stages(6, 2, 2, 0.3333) },
        { country: 'BR', ...stages(1, 0, 1, 0) },
        { country: 'FR', ...stages(0, 1, 0, null) },
      ])
    })
    test('rates only leads that a click of the range brought', async () => {
      // The last touch of submission 8 is a click on link 1 before March.
      expect(await data('funnel?linkId=1')).toMatchObject(stages(5, 2, 2, 0.2))
      expect(await data('funnel?linkId=1&interval=all')).toMatchObject(stages(6, 2, 2, 0.3333))
      // Leads without a link are counted, and in no rate.
      expect(await data('funnel?linkId=0')).toMatchObject(stages(0, 1, 2, null))
    })
    test('answers 503 without the engine, while leads are answered', async () => {
      down = true
      try {
        const { status, body } = await ask('funnel')
        expect([status, body.error]).toEqual([503, 'Temporarily unavailable'])
        expect((await leads('')).leads).toBe(5)
      } finally {
        down = false
      }
    })
  })

  test.each([
    ['leads?colour=red', 'colour', 'is not a known parameter'],
    ['leads?class=bot', 'class', 'is not a known parameter'],
    ['leads?trigger=qr', 'trigger', 'is not a known parameter'],
    ['leads?model=best', 'model', 'must be one of first, last, linear'],
    ['leads?model=first&model=last', 'model', 'must be one of'],
    ['leads?interval=2w', 'interval', 'must be one of'],
    ['leads?timezone=Mars/Base', 'timezone', 'IANA'],
    ['leads?start=2026-03-30&end=2026-03-29', 'start', 'must be before end'],
    ['leads?groupBy=planet', 'groupBy', 'must be one of'],
    ['leads?granularity=day', 'granularity', 'groupBy=time'],
    ['leads?groupBy=time&granularity=minute', 'granularity', 'the finest that fits is hour'],
    ['leads?groupBy=country&limit=1001', 'limit', 'from 1 to 1000'],
    ['leads?limit=5', 'limit', 'groupBy'],
    ['leads?linkId=abc', 'linkId', 'whole numbers'],
    ['leads?form=a,-b', 'form', 'cannot mix'],
    ['leads?page=a%00b', 'page', 'NUL'],
    ['funnel?groupBy=time', 'groupBy', 'must be one of'],
    ['funnel?form=aaaaaaaaaa', 'form', 'is not a known parameter'],
    ['funnel?groupBy=link&limit=0', 'limit', 'from 1 to 1000'],
    ['funnel?limit=5', 'limit', 'groupBy'],
  ])('refuses %s', async (path, field, words) => {
    const { status, body } = await ask(path)
    expect(status).toBe(422)
    expect(Object.keys(body.errors)).toEqual([field])
    expect(body.errors[field]).toContain(words)
  })

  test('the API reference names every parameter and every shape of answer', () => {
    const document = api().getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
    const names = (path: string) =>
      document.paths?.[path]?.get?.parameters?.map((each) => ('name' in each ? each.name : ''))
    expect(names('/analytics/leads')).toHaveLength(8 + 1 + 1 + 20 + 2)
    expect(names('/analytics/funnel')).toHaveLength(7 + 1 + 1 + 20)
    expect(Object.keys(document.components?.schemas ?? {})).toEqual(
      expect.arrayContaining(['LeadTotals', 'LeadBucket', 'LeadForm', 'FunnelTotals', 'FunnelCampaign']),
    )
  })
})
