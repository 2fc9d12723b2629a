// POST /v1/forms/{formKey}/test: creates the token for a test of the dashboard ("Try it"; docs/contract.md §6).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse } from '../../../http/api-route.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { allow } from '../../accounts/access/actor.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { FormKeyParameter } from '../schema.ts'
import { getFormId } from '../settings/form.ts'
import type { TestTokens } from './test-tokens.ts'

export interface FormTestApiNeeds {
  testTokens: TestTokens
  now: () => number
}

const TestTokenShape = z
  .strictObject({
    token: z.string().openapi({ description: 'The value of the field `_service_test`' }),
    expiresAt: z.iso.datetime(),
  })
  .openapi('FormTest')

const test = apiRoute({
  method: 'post',
  path: '/forms/{formKey}/test',
  scope: 'submissions:write',
  shows: 'any',
  operationId: 'createFormTest',
  tags: ['Forms'],
  summary: 'Get a token for test submissions',
  description:
    'A submission that has it in the field `_service_test` is a test: it is stored with `test: true`, notifies nobody, ' +
    'and is in no figure. The token is valid for ten minutes.',
  idempotent: false,
  request: { params: FormKeyParameter },
  responses: { 200: dataResponse(TestTokenShape, 'The token') },
  fails: [404],
})

export function createFormTestApi({ testTokens, now }: FormTestApiNeeds) {
  return createApi().openapi(test, async (c) => {
    const { formKey } = c.req.valid('param')
    allow(c.get('actor'), 'forms:write')
    await getFormId(c.get('db').read, c.get('actor'), formKey)
    const { token, expiresAt } = testTokens.issue(formKey, now())
    return c.json({ data: { token, expiresAt: toIso(expiresAt) } }, 200)
  })
}
