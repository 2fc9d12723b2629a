// The REST API of outcomes (docs/contract.md §14).

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { deleteOutcome } from './delete-outcome.ts'
import { listOutcomes } from './list-outcomes.ts'
import { recordOutcome, recordOutcomes } from './record-outcomes.ts'
import { CreateOutcomes, OutcomeListQuery, OutcomeShape } from './schema.ts'

export interface OutcomesApiNeeds {
  now: () => number
}

const outcomes = { tags: ['Submissions'] }
const Recorded = z.union([OutcomeShape, z.array(OutcomeShape)])

const routes = {
  list: apiRoute({
    ...outcomes,
    method: 'get',
    path: '/outcomes',
    scope: 'submissions:read',
    operationId: 'listOutcomes',
    summary: 'List outcomes of leads, latest first',
    request: { query: OutcomeListQuery },
    responses: { 200: pageResponse(OutcomeShape, 'A page of outcomes') },
  }),
  create: apiRoute({
    ...outcomes,
    method: 'post',
    path: '/outcomes',
    takesList: true,
    scope: 'submissions:write',
    operationId: 'createOutcomes',
    summary: 'Record up to 100 outcomes of leads, all or nothing',
    description:
      'An outcome says what became of a lead, and what it was worth. Exactly one of `submissionId`, `email` and `clickId` ' +
      'names the lead. An `externalId` that is known changes its outcome. The answer to one outcome is one outcome, the ' +
      'answer to a list is a list in the order of the request.',
    request: {
      body: jsonRequestBody(CreateOutcomes, {
        outcomes: [
          {
            email: 'ada@example.com',
            stage: 'won',
            value: '1299.00',
            currency: 'EUR',
            externalId: 'order-1001',
          },
        ],
      }),
    },
    responses: {
      200: dataResponse(Recorded, 'The outcomes, where all of them were known by their `externalId`'),
      201: dataResponse(Recorded, 'The outcomes'),
    },
    fails: [409],
  }),
  delete: apiRoute({
    ...outcomes,
    method: 'delete',
    path: '/outcomes/{id}',
    scope: 'submissions:write',
    operationId: 'deleteOutcome',
    summary: 'Take back an outcome',
    request: { params: IdParameter },
    responses: { 200: dataResponse(OutcomeShape, 'The outcome as it was') },
    fails: [404],
  }),
}

export function createOutcomesApi({ now }: OutcomesApiNeeds) {
  const toNeeds = (c: Context<ApiEnv>) => ({ now, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listOutcomes(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.create, async (c) => {
      const body = c.req.valid('json')
      if ('stage' in body) {
        const { outcome, created } = await recordOutcome(toNeeds(c), c.get('actor'), body)
        return c.json({ data: outcome }, created ? 201 : 200)
      }
      const inputs = Array.isArray(body) ? body : body.outcomes
      const { outcomes: data, created } = await recordOutcomes(toNeeds(c), c.get('actor'), inputs)
      return c.json({ data }, created ? 201 : 200)
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await deleteOutcome(toNeeds(c), c.get('actor'), id) }, 200)
    })
}
