// GET /forms/{formKey}/losses: how the attempts to send a form ended.

import { apiRoute, dataOf } from '../../http/api-route.ts'
import { newApi } from '../accounts/guard.ts'
import type { Attempts } from './attempts.ts'
import { findLosses, LossesQuery, LossesShape } from './losses.ts'
import { FormKeyParameter } from './schema.ts'

export interface LossesApiNeeds {
  attempts: Pick<Attempts, 'flush'>
  now: () => number
}

const losses = apiRoute({
  method: 'get',
  path: '/forms/{formKey}/losses',
  operationId: 'getFormLosses',
  tags: ['Forms'],
  summary: 'Count how attempts to send a form ended',
  description:
    'Counts only, by UTC day: nothing of what was sent, nor of who sent it. The last thirty days when neither start ' +
    'nor end is given; a part of a day counts as all of it.',
  request: { params: FormKeyParameter, query: LossesQuery },
  responses: { 200: dataOf(LossesShape, 'The counts') },
  fails: [404],
})

export function lossesApi({ attempts, now }: LossesApiNeeds) {
  return newApi().openapi(losses, async (c) => {
    // What was counted here is in the answer; other processes write theirs each second.
    await attempts.flush()
    const { formKey } = c.req.valid('param')
    const data = await findLosses({ rows: c.get('rows'), now }, c.get('actor'), formKey, c.req.valid('query'))
    return c.json({ data }, 200)
  })
}
