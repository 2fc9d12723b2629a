// GET /v1/forms/{formKey}/losses: counts of how the attempts to send a form ended (docs/contract.md §6).

import { apiRoute, dataResponse } from '../../../http/api-route.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { FormKeyParameter } from '../schema.ts'
import type { AttemptCounter } from './attempt-counter.ts'
import { getLosses, LossesQuery, LossesShape } from './losses.ts'

export interface LossesApiNeeds {
  attempts: Pick<AttemptCounter, 'flush'>
  now: () => number
}

const losses = apiRoute({
  method: 'get',
  path: '/forms/{formKey}/losses',
  scope: 'forms:read',
  operationId: 'getFormLosses',
  tags: ['Forms'],
  summary: 'Count how attempts to send a form ended',
  description:
    'Counts by UTC day. Nothing of what was sent is stored for them, nor of who sent it. Without start and end, the ' +
    'range is the last thirty days. A part of a day counts as the whole day.',
  request: { params: FormKeyParameter, query: LossesQuery },
  responses: { 200: dataResponse(LossesShape, 'The counts') },
  fails: [404],
})

export function createLossesApi({ attempts, now }: LossesApiNeeds) {
  return createApi().openapi(losses, async (c) => {
    // The answer has all counts of this process. Other processes write theirs each second.
    await attempts.flush()
    const { formKey } = c.req.valid('param')
    const data = await getLosses({ db: c.get('db'), now }, c.get('actor'), formKey, c.req.valid('query'))
    return c.json({ data }, 200)
  })
}
