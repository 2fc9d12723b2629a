// The REST API of domains (docs/contract.md §10).

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
import { createDomain } from './create-domain.ts'
import { deleteDomain } from './delete-domain.ts'
import { describeDomain, getDomain } from './domain.ts'
import { listDomains } from './list-domains.ts'
import * as shapes from './schema.ts'
import { updateDomain } from './update-domain.ts'
import { type VerificationNeeds, verifyDomain } from './verify-domain.ts'

const { DomainShape } = shapes

const domains = { tags: ['Domains'] }

const routes = {
  list: apiRoute({
    ...domains,
    method: 'get',
    path: '/domains',
    scope: 'links:read',
    operationId: 'listDomains',
    summary: 'List domains of one’s own',
    request: { query: shapes.DomainListQuery },
    responses: { 200: pageResponse(DomainShape, 'A page of domains, oldest first') },
  }),
  create: apiRoute({
    ...domains,
    method: 'post',
    path: '/domains',
    scope: 'links:write',
    operationId: 'createDomain',
    summary: 'Add a domain',
    description: 'It answers nothing before it is verified: set the records in `dns`, then verify it.',
    request: { body: jsonRequestBody(shapes.CreateDomain, { domain: 'go.example.com' }) },
    responses: { 201: dataResponse(DomainShape, 'The new domain') },
    fails: [409],
  }),
  get: apiRoute({
    ...domains,
    method: 'get',
    path: '/domains/{id}',
    scope: 'links:read',
    operationId: 'getDomain',
    summary: 'Get a domain',
    request: { params: IdParameter },
    responses: { 200: dataResponse(DomainShape, 'The domain') },
    fails: [404],
  }),
  update: apiRoute({
    ...domains,
    method: 'patch',
    path: '/domains/{id}',
    scope: 'links:write',
    operationId: 'updateDomain',
    summary: 'Change the settings of a domain',
    request: {
      params: IdParameter,
      body: jsonRequestBody(shapes.UpdateDomain, {
        rootUrl: 'https://example.com/',
        notFoundUrl: 'https://example.com/search?q={slug}',
      }),
    },
    responses: { 200: dataResponse(DomainShape, 'The changed domain') },
    fails: [404],
  }),
  delete: apiRoute({
    ...domains,
    method: 'delete',
    path: '/domains/{id}',
    scope: 'links:write',
    operationId: 'deleteDomain',
    summary: 'Remove a domain',
    description:
      'Members of the workspace may not, owners may. With links it needs `moveTo`, and links in the trash count.',
    request: { params: IdParameter, query: shapes.DeleteDomainQuery },
    responses: { 200: dataResponse(DomainShape, 'The domain as it was') },
    fails: [404, 409],
  }),
  verify: apiRoute({
    ...domains,
    method: 'post',
    path: '/domains/{id}/verify',
    slow: true,
    scope: 'links:write',
    operationId: 'verifyDomain',
    summary: 'Look at the DNS of a domain now',
    description: 'It takes five seconds at most. Without proof, `problem` says why.',
    request: { params: IdParameter },
    responses: { 200: dataResponse(DomainShape, 'The domain with the result of the check') },
    fails: [404, 409],
  }),
}

export function createDomainsApi(needs: Omit<VerificationNeeds, 'db'>) {
  const getNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listDomains(getNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.create, async (c) =>
      c.json({ data: await createDomain(getNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.get, async (c) => {
      const row = await getDomain(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      return c.json({ data: await describeDomain(getNeeds(c), row) }, 200)
    })
    .openapi(routes.update, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await updateDomain(getNeeds(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      const { moveTo } = c.req.valid('query')
      // A million links take minutes.
      if (moveTo !== undefined) c.env?.setIdleSeconds?.(0)
      return c.json({ data: await deleteDomain(getNeeds(c), c.get('actor'), id, moveTo) }, 200)
    })
    .openapi(routes.verify, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await verifyDomain(getNeeds(c), c.get('actor'), id) }, 200)
    })
}
