// GET /analytics/missing: slugs that people asked for and that no link has (docs/contract.md §10).

import { apiRoute } from '../../../http/api-route.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import type { AnswerContext } from '../resolve-selection.ts'
import { answerMissing } from './answer-missing.ts'
import { MissingAnswer, MissingParameters, toMissingQuestion } from './schema.ts'

const missing = apiRoute({
  method: 'get',
  path: '/analytics/missing',
  scope: 'analytics:read',
  operationId: 'listMissingSlugs',
  tags: ['Analytics'],
  summary: 'List unknown slugs that people asked for',
  description:
    'The slugs without a link that people asked for on the domains of the workspace, with the closest slug that has one. ' +
    'The default domain is included in the first workspace of the installation, whose owners operate the server. Counts are kept by the hour, ' +
    'and the hour in which the range begins counts as a whole. They appear within ten seconds.',
  request: { query: MissingParameters },
  responses: {
    200: { description: 'The slugs', content: { 'application/json': { schema: MissingAnswer } } },
  },
})

export const createMissingApi = (needs: AnswerContext) =>
  createApi().openapi(missing, async (c) =>
    c.json(await answerMissing(needs, c.get('actor'), toMissingQuestion(c.req.valid('query'))), 200),
  )
