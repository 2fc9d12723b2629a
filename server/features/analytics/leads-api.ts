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
  operationId: 'countLeads',
  tags: ['Analytics'],
  summary: 'Count leads',
  description:
    'A lead is a submission that is neither a duplicate nor spam. Parameters and answers are those of ' +
    '`GET /analytics/clicks`, with `leads` in place of `clicks`, and with `form` and `page`. Link, campaign and ' +
    'referrer of a lead are those of its first or last touch, or of each touch with its part, as `model` says.',
  request: { query: LeadParameters },
  responses: {
    200: { description: 'The counts', content: { 'application/json': { schema: LeadAnswer } } },
  },
})

const funnel = apiRoute({
  method: 'get',
  path: '/analytics/funnel',
  operationId: 'getFunnel',
  tags: ['Analytics'],
  summary: 'Compare clicks, visits and leads',
  description:
    'How many clicks became visits, and leads: in total, or for each link, tag, campaign, referrer or country. The ' +
    'three are counted each in the range by itself. Totals hold visits and leads without a link as well, which are ' +
    'the row `link: null` of groupBy=link; `linkId=-0` leaves them out.',
  request: { query: FunnelParameters },
  responses: {
    200: {
      description: 'The counts, groups with most clicks first',
      headers: {
        'X-Counted-Until': {
          description: 'Every click and visit before this moment is in the answer',
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
      // Taken before the question, so that it never claims more than the answer holds.
      const countedUntil = needs.hits.countedUntil()
      const data = await answerFunnel(needs, c.get('actor'), toFunnelQuestion(c.req.valid('query')))
      c.header('X-Counted-Until', toIso(countedUntil))
      return c.json({ data }, 200)
    })
}
