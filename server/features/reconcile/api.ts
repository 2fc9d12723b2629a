// POST /reconcile: why another tool counts other numbers (docs/contract.md §15b).

import { apiRoute, dataResponse, jsonRequestBody } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import type { AnswerContext } from '../analytics/resolve-selection.ts'
import { reconcile } from './reconcile.ts'
import { Reconcile, ReconciliationShape } from './schema.ts'

const route = apiRoute({
  method: 'post',
  path: '/reconcile',
  scope: 'analytics:read',
  shows: 'any',
  // It stores nothing.
  idempotent: false,
  operationId: 'reconcile',
  tags: ['Analytics'],
  summary: 'Compare clicks with another tool',
  description:
    'Takes the CSV of the same days from another tool (GA4, Plausible, Bitly, or a column of dates and one of numbers) and ' +
    'answers day by day: theirs, ours, the difference, and its known causes. The file is not stored.',
  request: {
    body: jsonRequestBody(Reconcile, {
      csv: 'date,visitors,pageviews,visits\n2030-05-01,120,260,131\n2030-05-02,98,200,104\n',
      timezone: 'Europe/Berlin',
    }),
  },
  responses: { 200: dataResponse(ReconciliationShape, 'The comparison') },
})

export const createReconcileApi = (needs: AnswerContext) =>
  createApi().openapi(route, async (c) =>
    c.json({ data: await reconcile(needs, c.get('actor'), c.req.valid('json')) }, 200),
  )
