// POST /analytics/batch: several questions about clicks, leads and the funnel in one request (docs/contract.md §5).

import { z } from '@hono/zod-openapi'
import { apiRoute, jsonRequestBody } from '../../http/api-route.ts'
import { invalid } from '../../lib/failure.ts'
import { toIso } from '../../lib/iso-time.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { answerClicks } from './answer-clicks.ts'
import { answerFunnel } from './answer-funnel.ts'
import { answerLeads } from './answer-leads.ts'
import type { LeadsApiNeeds } from './leads-api.ts'
import {
  FunnelAnswer,
  FunnelParameters,
  LeadAnswer,
  LeadParameters,
  toFunnelQuestion,
  toLeadQuestion,
} from './leads-schema.ts'
import { countedUntilHeader, PARAMETER_MAX } from './parameters.ts'
import type { WorkspaceScope } from './resolve-selection.ts'
import { ClickAnswer, ClickParameters, toClickQuestion } from './schema.ts'

/** A page of analytics asks seven. */
const QUESTIONS_MAX = 20
const VALUES_MAX = 100

const text = z.string().max(PARAMETER_MAX)
const values = z.union([text, z.array(text).max(VALUES_MAX)], {
  error: 'must be a string or a list of strings',
})

const BatchQuestions = z
  .strictObject({
    questions: z
      .array(
        z.strictObject({
          about: z.enum(['clicks', 'leads', 'funnel']),
          query: z.record(z.string().max(100), values).openapi({
            description: 'The parameters of `GET /analytics/{about}`, without `explain`, as texts',
          }),
        }),
      )
      .min(1)
      .max(QUESTIONS_MAX),
  })
  .openapi('AnalyticsQuestions')
type BatchQuestion = z.infer<typeof BatchQuestions>['questions'][number]

const batch = apiRoute({
  method: 'post',
  path: '/analytics/batch',
  scope: 'analytics:read',
  // The request changes nothing.
  idempotent: false,
  operationId: 'answerQuestions',
  tags: ['Analytics'],
  summary: 'Run several queries in one request',
  description:
    'The answers of `GET /analytics/clicks`, `/leads` and `/funnel` to up to 20 questions, in their order. One question ' +
    'that is refused refuses the request.',
  request: {
    body: jsonRequestBody(BatchQuestions, {
      questions: [
        { about: 'clicks', query: { interval: '30d', groupBy: 'country' } },
        { about: 'funnel', query: { interval: '30d' } },
      ],
    }),
  },
  responses: {
    200: {
      description: 'The answers',
      headers: countedUntilHeader('The answers include every click and visit'),
      content: {
        'application/json': {
          schema: z.strictObject({ data: z.array(z.union([ClickAnswer, LeadAnswer, FunnelAnswer])) }),
        },
      },
    },
  },
})

export const createAnalyticsBatchApi = (needs: LeadsApiNeeds) =>
  createApi().openapi(batch, async (c) => {
    const actor = c.get('actor')
    // Read the time before the queries, so that the answers include every click before it.
    const countedUntil = needs.hits.countedUntil()
    const ask = c.req.valid('json').questions.map((question, i) => toAnswerer(question, `questions.${i}`))
    const data = await Promise.all(ask.map((answer) => answer(needs, actor)))
    c.header('X-Counted-Until', toIso(countedUntil))
    return c.json({ data }, 200)
  })

/** @throws Failure `invalid` before any question is asked */
function toAnswerer({ about, query }: BatchQuestion, field: string) {
  if ('explain' in query) throw invalid({ [field]: 'has no “explain” in a batch' })
  if (about === 'clicks') {
    const question = toClickQuestion(parseQuery(ClickParameters, query, field))
    return async (needs: LeadsApiNeeds, actor: WorkspaceScope) => ({
      data: await answerClicks(needs, actor, question),
    })
  }
  if (about === 'leads') {
    const question = toLeadQuestion(parseQuery(LeadParameters, query, field))
    return (needs: LeadsApiNeeds, actor: WorkspaceScope) => answerLeads(needs, actor, question)
  }
  const question = toFunnelQuestion(parseQuery(FunnelParameters, query, field))
  return (needs: LeadsApiNeeds, actor: WorkspaceScope) => answerFunnel(needs, actor, question)
}

function parseQuery<S extends z.ZodType>(
  schema: S,
  query: BatchQuestion['query'],
  field: string,
): z.infer<S> {
  const { data, error } = schema.safeParse(query)
  if (!error) return data
  const [issue] = error.issues
  const path = [field, ...(issue?.path ?? [])].join('.')
  throw invalid({ [path]: issue?.message ?? 'is not valid' })
}
