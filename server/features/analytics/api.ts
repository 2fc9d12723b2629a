// GET /analytics/clicks: one endpoint for totals, timelines and top lists (contract §5).

import { apiRoute } from '../../http/api-route.ts'
import { iso } from '../../lib/wire.ts'
import type { HitAnswers } from '../../storage/hits/engine.ts'
import type { Rows } from '../../storage/rows/engine.ts'
import { newApi } from '../accounts/guard.ts'
import { answerClicks } from './answer.ts'
import { ClickAnswer, ClickParameters, questionOf } from './schema.ts'

export interface Needs {
  rows: Rows
  hits: HitAnswers
  now: () => number
  defaultDomain: string
}

const clicks = apiRoute({
  method: 'get',
  path: '/analytics/clicks',
  operationId: 'countClicks',
  tags: ['Analytics'],
  summary: 'Count clicks',
  description:
    'Totals, a timeline (groupBy=time) or a top list (groupBy=country …). Filters can be combined; each takes ' +
    'several values separated by commas, and a leading "-" turns it into all but these. A comma in a value is written "\\,".',
  request: { query: ClickParameters },
  responses: {
    200: {
      description: 'The counts',
      headers: {
        'X-Counted-Until': {
          description: 'Every click before this moment is in the answer',
          schema: { type: 'string', format: 'date-time' },
        },
      },
      content: { 'application/json': { schema: ClickAnswer } },
    },
  },
})

export const analyticsApi = (needs: Needs) =>
  newApi().openapi(clicks, async (c) => {
    // Taken before the question, so that it never claims more than the answer holds.
    const countedUntil = needs.hits.countedUntil()
    const data = await answerClicks(needs, c.get('actor'), questionOf(c.req.valid('query')))
    c.header('X-Counted-Until', iso(countedUntil))
    return c.json({ data }, 200)
  })
