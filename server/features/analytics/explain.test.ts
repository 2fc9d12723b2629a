import { expect, test } from 'bun:test'
import { DAY_MS } from '../../lib/utc-day.ts'
import type { HitAnswer, HitQuery } from '../../storage/hits/hit-engine.ts'
import { RAW_REASONS } from '../../storage/hits/rollups/answer-origin.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { answerFunnel } from './answer-funnel.ts'
import { type AnswerExplainerNeeds, createAnswerExplainer } from './explain.ts'

const MAY_3 = Date.UTC(2026, 4, 3)
const ACTOR: Actor = { kind: 'key', workspaceId: 1, plan: 'pro', keyId: 1 }
const query: HitQuery = {
  workspaceId: 1,
  start: MAY_3,
  end: MAY_3 + 9 * DAY_MS,
  classes: ['human'],
  filters: [],
  groupBy: { by: 'time', starts: [MAY_3] },
}

const create = (part: Partial<AnswerExplainerNeeds>, answers: HitAnswer[] = []) =>
  createAnswerExplainer(
    {
      hits: { explain: async () => ({ answers, origin: [] }) },
      now: () => MAY_3 + 99 * DAY_MS,
      groupBy: undefined,
      ...part,
    },
    ACTOR,
  )

test('a timeline is named by its granularity, which the range decides when nobody asked for one', async () => {
  const asked = create({ groupBy: 'time', granularity: 'week' })
  await asked.hits.ask(query)
  asked.noteLeads(query)
  const chosen = create({ groupBy: 'time' })
  await chosen.hits.ask(query)
  await chosen.hits.ask({ ...query, end: MAY_3 + DAY_MS, outcomes: ['landing'] })
  expect([...asked.list(), ...chosen.list()].map(({ question }) => question)).toEqual([
    'clicks by week',
    'leads by week',
    'clicks by day',
    'visits by hour',
  ])
})

test('the questions of a grouped funnel are told apart', async () => {
  const explainer = create({ groupBy: 'country' }, [{ key: 'DE', clicks: 7, visitors: 5 }])
  const rows = { execute: async () => [], executeTakeFirst: async () => undefined }
  const needs = {
    ...explainer,
    now: () => MAY_3,
    defaultDomain: 'tow.example',
    resolvePendingAttribution: async () => {},
    db: {
      engine: 'sqlite',
      read: new Proxy(rows, {
        get: () => {
          throw new Error('leads')
        },
      }),
    } as never,
  }
  // The clicks and visits are asked for before the leads, which this test has no database for.
  const funnel = answerFunnel(needs, ACTOR, {
    range: { start: MAY_3, end: MAY_3 + DAY_MS },
    timezone: 'UTC',
    filters: [],
    model: 'last',
    groupBy: 'country',
    currency: null,
    limit: 10,
  })
  await expect(funnel).rejects.toThrow('leads')
  expect(explainer.list().map(({ question }) => question)).toEqual([
    'clicks by country',
    'visits by country (those with clicks)',
    'visits by country (all others)',
  ])
})

test('each reason has a sentence of its own, which fits a part of many days too', async () => {
  const sentences = new Set<string | undefined>()
  for (const why of RAW_REASONS) {
    const origin = [{ start: MAY_3, end: MAY_3 + DAY_MS, from: 'hits' as const, why }]
    const explainer = create({ hits: { explain: async () => ({ answers: [], origin }) } })
    await explainer.hits.ask(query)
    sentences.add(explainer.list()[0]?.parts[0]?.why)
  }
  expect(sentences.size).toBe(RAW_REASONS.length)
  for (const each of sentences) expect(each).toEndWith('.')
})
