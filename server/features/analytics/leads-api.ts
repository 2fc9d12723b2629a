// GET /analytics/leads and GET /analytics/funnel (docs/contract.md §5).

import { apiRoute } from '../../http/api-route.ts'
import { toIso } from '../../lib/api-fields.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { answerFunnel, type FunnelNeeds } from './answer-funnel.ts'
import { answerLeads } from './answer-leads.ts'
import {
  FunnelAnswer,
  FunnelParameters,
  LeadAnswer,
  LeadParameters,
  toFunnelQuestion,
  toLeadQuestion,
} from './leads-schema.ts'

export interface LeadsApiNeeds extends FunnelNeeds {
  hits: Pick<HitReader, 'ask' | 'countedUntil'>
}

const leads = apiRoute({
  method: 'get',
  path: '/analytics/leads',
  scope: 'analytics:read',
  operationId: 'countLeads',
  tags: ['Analytics'],
  summary: 'Count leads',
  description:
    'A lead is a submission that is neither a duplicate nor spam. Parameters and answers are those of ' +
    '`GET /analytics/clicks`, with `leads` in place of `clicks`, and with `form` and `page`. Link, campaign and ' +
    'referrer of a lead are those of its first or last touch, or of each touch with its part, depending on `model`.',
  request: { query: LeadParameters },
  responses: {
    200: { description: 'The counts', content: { 'application/json': { schema: LeadAnswer } } },
  },
})

const funnel = apiRoute({
  method: 'get',
  path: '/analytics/funnel',
  scope: 'analytics:read',
  operationId: 'getFunnel',
  tags: ['Analytics'],
  summary: 'Compare clicks, visits and leads',
  description:
    'Clicks, visits and leads in total, or for each link, tag, campaign, source, channel, referrer or country. Each of the three is ' +
    'counted in the range by itself. Totals include visits and leads without a link; with groupBy=link these are the ' +
    'row `link: null`, and `linkId=-0` leaves them out.',
  request: { query: FunnelParameters },
  responses: {
    200: {
      description: 'The counts; groups with the most clicks come first',
      headers: {
        'X-Counted-Until': {
          description: 'The answer includes every click and visit before this time',
          schema: { type: 'string', format: 'date-time' },
        },
      } as const,
      content: { 'application/json': { schema: FunnelAnswer } },
    },
  },
})

export function createLeadsApi(needs: LeadsApiNeeds) {
  return createApi()
    .openapi(leads, async (c) => {
      const data = await answerLeads(needs, c.get('actor'), toLeadQuestion(c.req.valid('query')))
      return c.json({ data }, 200)
    })
    .openapi(funnel, async (c) => {
      // Read the time before the query, so that the answer includes every click and visit before it.
      const countedUntil = needs.hits.countedUntil()
      const data = await answerFunnel(needs, c.get('actor'), toFunnelQuestion(c.req.valid('query')))
      c.header('X-Counted-Until', toIso(countedUntil))
      return c.json({ data }, 200)
    })
}
