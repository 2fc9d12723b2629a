// Roll-ups through the front door: the hit worker rolls closed days up by itself, answers stay what they were, and
// explain=1 says which days they come from.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHitImport } from '../../server/features/hits/batches/hit-import.ts'
import { DAY_MS } from '../../server/lib/utc-day.ts'
import type { Hit } from '../../server/storage/hits/hit.ts'
import type { HitGrouping } from '../../server/storage/hits/hit-engine.ts'
import { createHit, createHitQuery } from '../contracts/hit-engine.ts'
import { readMetric } from '../support/read-metrics.ts'
import { recountHits } from '../support/rollups/recount-hits.ts'
import { full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { addToWorkspace, createSignedInUser } from '../support/users/signed-in-user.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(180_000)

/** A day is closed some minutes after its end. */
const TODAY = Math.floor((Date.now() - DAY_MS / 24) / DAY_MS)
const DAYS = 10
const FIRST_DAY = TODAY - DAYS
const PACE = { pauseMs: 1, retryMs: 10, lookEveryMs: 20, stayMs: 60_000, restMs: 0 }
const COUNTRIES = ['DE', 'BR', 'Unknown', null]

const toIso = (day: number) => new Date(day * DAY_MS).toISOString()
const RANGE = `start=${toIso(FIRST_DAY)}&end=${toIso(TODAY)}`

/** Clicks of all days but two. A visitor comes twice on each of their days. */
function createHits(workspaceId: number, linkId: number): Hit[] {
  const days = Array.from({ length: DAYS }, (_, index) => FIRST_DAY + index)
  return days
    .filter((_, index) => index < 4 || index > 5)
    .flatMap((day) =>
      Array.from({ length: 8 }, (_, number) =>
        createHit({
          at: day * DAY_MS + number * 3 * 60 * 60 * 1000,
          workspaceId,
          linkId,
          visitor: String(day * 100 + (number % 5)),
          country: COUNTRIES[(number % 5) % 4],
          referrer: number % 2 === 0 ? 'news.example' : null,
        }),
      ),
    )
}

function testClosedDays(server: () => TestServer) {
  let workspace: TestWorkspace
  let linkId: number
  let hits: Hit[]

  async function handOver(name: string, added: Hit[]) {
    const { dataDir, app } = server()
    const handed = await createHitImport(dataDir, name)
    await handed.add(added.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
    await handed.finish()
    await until('the hits are loaded', async () => {
      await app.hitWorker.drain()
      return handed.isImported()
    })
  }
  const readJson = async (path: string) => {
    const { status, json } = await workspace.api(path)
    expect([path, status]).toEqual([path, 200])
    return json
  }
  const explain = (path: string) => readJson(`${path}${path.includes('?') ? '&' : '?'}explain=1`)
  const toQuery = (groupBy: HitGrouping) =>
    createHitQuery({ workspaceId: workspace.id, start: FIRST_DAY * DAY_MS, end: TODAY * DAY_MS, groupBy })
  const recount = (groupBy: HitGrouping) => recountHits(hits, toQuery(groupBy))
  const toMetric = (name: string, labels?: Record<string, string>) =>
    readMetric(server().origin, `towpath_${name}`, labels)

  async function expectExactAnswers() {
    const { data: totals } = await readJson(`/analytics/clicks?${RANGE}`)
    expect(totals).toMatchObject({ clicks: hits.length, visitors: recount({ by: 'total' })[0]?.visitors })
    for (const [by, nullAs] of [
      ['country', 'Unknown'],
      ['referrer', '(direct)'],
    ] as const) {
      const { data } = await readJson(`/analytics/clicks?${RANGE}&groupBy=${by}`)
      expect(data).toEqual(
        recount({ by, limit: 100, nullAs }).map(({ key, ...counts }) => ({ [by]: key, ...counts })),
      )
    }
    const days = Array.from({ length: DAYS }, (_, index) => (FIRST_DAY + index) * DAY_MS)
    const { data: timeline } = await readJson(`/analytics/clicks?${RANGE}&groupBy=time&granularity=day`)
    expect(timeline.filter(({ clicks }: { clicks: number }) => clicks > 0)).toEqual(
      recount({ by: 'time', starts: days }).map(({ key, ...counts }) => ({
        time: new Date(Number(key)).toISOString(),
        ...counts,
      })),
    )
  }
  /** Asks the hit worker itself: the API has a limit of requests. */
  const untilRolledUp = () =>
    until(
      'the days are rolled up',
      async () => {
        const { origin } = await server().app.hitWorker.explain(toQuery({ by: 'total' }))
        return origin.length > 0 && origin.every(({ from }) => from !== 'hits')
      },
      120_000,
    )

  beforeAll(async () => {
    workspace = await server().createWorkspace()
    linkId = (await workspace.createLink()).id
    hits = createHits(workspace.id, linkId)
    await handOver('history', hits)
  })

  quick('are rolled up in the background, and answers stay exact meanwhile and afterwards', async () => {
    await expectExactAnswers()
    await untilRolledUp()
    await expectExactAnswers()
    await until('no day waits', async () => (await toMetric('roll_ups_waiting')) === 0)
    expect(await toMetric('roll_ups_total')).toBeGreaterThanOrEqual(DAYS)
    expect(await toMetric('roll_up_failures_total')).toBe(0)
    expect(await toMetric('questions_total', { from: 'roll_ups' })).toBeGreaterThan(0)
    expect(await toMetric('question_dates_total', { from: 'roll_ups' })).toBeGreaterThanOrEqual(DAYS)
  })

  test('are told apart from days whose hits were read, with a sentence', async () => {
    await untilRolledUp()
    const { data, explain: whole } = await explain(`/analytics/clicks?${RANGE}`)
    expect(data.clicks).toBe(hits.length)
    expect(whole).toEqual([
      {
        question: 'clicks in total',
        parts: [{ start: toIso(FIRST_DAY), end: toIso(TODAY), from: 'days' }],
        days: { rolledUp: DAYS, hits: 0 },
      },
    ])
    const { explain: open } = await explain(`/analytics/clicks?start=${toIso(TODAY - 2)}&groupBy=time`)
    expect(open[0]).toMatchObject({ question: 'clicks by hour', days: { hits: expect.any(Number) } })
    const last = await explain(`/analytics/clicks?start=${toIso(TODAY - 2)}`)
    expect(last.explain[0].parts).toEqual([
      { start: toIso(TODAY - 2), end: toIso(TODAY), from: 'days' },
      {
        start: toIso(TODAY),
        end: last.data.end,
        from: 'hits',
        why: 'There are no clicks on these days.',
      },
    ])
    expect(last.explain[0].days).toEqual({ rolledUp: 2, hits: 0 })
    const { explain: tags } = await explain(`/analytics/clicks?${RANGE}&groupBy=tag`)
    expect(tags).toEqual([
      {
        question: 'clicks by tag',
        parts: [
          {
            start: toIso(FIRST_DAY),
            end: toIso(TODAY),
            from: 'hits',
            why: 'Roll-ups do not have the sums that this question needs.',
          },
        ],
        days: { rolledUp: 0, hits: DAYS },
      },
    ])
  })

  full('explain the funnel count by count, and leads as rows', async () => {
    await untilRolledUp()
    const rows = {
      question: 'leads in total',
      parts: [
        {
          start: toIso(FIRST_DAY),
          end: toIso(TODAY),
          from: 'rows',
          why: 'Leads are counted from the submissions in the database. Roll-ups do not have them.',
        },
      ],
      days: { rolledUp: 0, hits: 0 },
    }
    const { data, explain: funnel } = await explain(`/analytics/funnel?${RANGE}`)
    expect(data).toMatchObject({ clicks: hits.length, visits: 0, leads: 0 })
    expect(funnel).toEqual([
      expect.objectContaining({ question: 'clicks in total', days: { rolledUp: DAYS, hits: 0 } }),
      expect.objectContaining({ question: 'visits in total', days: { rolledUp: DAYS, hits: 0 } }),
      rows,
    ])
    const { data: leads, explain: counted } = await explain(`/analytics/leads?${RANGE}`)
    expect([leads.leads, counted]).toEqual([0, [rows]])
    const { explain: grouped } = await explain(`/analytics/funnel?${RANGE}&groupBy=country`)
    expect(new Set(grouped.map(({ question }: { question: string }) => question))).toEqual(
      new Set([
        'clicks by country',
        'visits by country (those with clicks)',
        'visits by country (all others)',
        'leads by country',
      ]),
    )
  })

  full('are rolled up again after late hits, which count at once', async () => {
    await untilRolledUp()
    const late = createHit({ at: (FIRST_DAY + 5) * DAY_MS, workspaceId: workspace.id, linkId, country: 'FR' })
    hits.push(late)
    await handOver('late', [late])
    await expectExactAnswers()
    await untilRolledUp()
    await expectExactAnswers()
  })

  test('are explained to owners and keys only, and without explain=1 to nobody', async () => {
    for (const [name, role, status] of [
      ['Olga', 'owner', 200],
      ['Max', 'member', 403],
      ['Vera', 'viewer', 403],
    ] as const) {
      const user = await createSignedInUser(server(), name)
      await addToWorkspace(server(), workspace.id, user, role)
      for (const path of ['/analytics/clicks', '/analytics/funnel', '/analytics/leads']) {
        const plain = await user.apiIn(workspace.id, path)
        expect([path, plain.status, Object.keys(plain.json)]).toEqual([path, 200, ['data']])
        const explained = await user.apiIn(workspace.id, `${path}?explain=1`)
        expect([path, role, explained.status]).toEqual([path, role, status])
        if (status === 403)
          expect(explained.json.error).toBe(
            'Only owners of the workspace and API keys may ask with explain=1',
          )
      }
    }
    const wrong = await workspace.api('/analytics/clicks?explain=yes')
    expect([wrong.status, Object.keys(wrong.json.errors)]).toEqual([422, ['explain']])
  })
}

onBothEngines('closed days', testClosedDays, { rollUpPace: PACE })
