// The routes of allowed senders, whose submissions are never spam: /v1/allowed-senders (docs/contract.md §13).

import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../../http/api-route.ts'
import { type ApiEnv, createApi } from '../../accounts/access/api-env.ts'
import {
  type AllowedSenderNeeds,
  allowSender,
  deleteAllowedSender,
  listAllowedSenders,
} from './allowed-senders.ts'
import { AllowedSenderListQuery, AllowedSenderShape, AllowSender } from './schema.ts'

export interface AllowedSendersApiNeeds extends AllowedSenderNeeds {
  now: () => number
}

const submissions = { tags: ['Submissions'] }

const routes = {
  list: apiRoute({
    ...submissions,
    method: 'get',
    path: '/allowed-senders',
    scope: 'submissions:read',
    operationId: 'listAllowedSenders',
    summary: 'List the senders whose submissions are never spam, newest first',
    request: { query: AllowedSenderListQuery },
    responses: { 200: pageResponse(AllowedSenderShape, 'A page of allowed senders') },
  }),
  create: apiRoute({
    ...submissions,
    method: 'post',
    path: '/allowed-senders',
    scope: 'submissions:write',
    operationId: 'allowSender',
    summary: 'Always allow a sender, in all forms of the workspace',
    description:
      'The rules of forms and the classifier do not judge the submissions of this sender. Stored submissions keep their ' +
      'status. A sender that is allowed already stays as it is.',
    request: { body: jsonRequestBody(AllowSender, { address: 'ada@example.com' }) },
    responses: { 201: dataResponse(AllowedSenderShape, 'The allowed sender') },
    fails: [409],
  }),
  delete: apiRoute({
    ...submissions,
    method: 'delete',
    path: '/allowed-senders/{id}',
    scope: 'submissions:write',
    operationId: 'deleteAllowedSender',
    summary: 'No longer allow a sender always',
    request: { params: IdParameter },
    responses: { 200: dataResponse(AllowedSenderShape, 'The sender that was allowed') },
    fails: [404],
  }),
}

export function createAllowedSendersApi(needs: AllowedSendersApiNeeds) {
  const toNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listAllowedSenders(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.create, async (c) =>
      c.json({ data: await allowSender(toNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.delete, async (c) =>
      c.json(
        { data: await deleteAllowedSender(toNeeds(c), c.get('actor'), parseId(c.req.valid('param').id)) },
        200,
      ),
    )
}
