// The REST API of UTM templates (docs/contract.md §3).

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
import { createUtmTemplate } from './create-utm-template.ts'
import { deleteUtmTemplate } from './delete-utm-template.ts'
import { listUtmTemplates } from './list-utm-templates.ts'
import { CreateUtmTemplate, UpdateUtmTemplate, UtmTemplateListQuery, UtmTemplateShape } from './schema.ts'
import { updateUtmTemplate } from './update-utm-template.ts'
import { getUtmTemplate, toUtmTemplateResource } from './utm-template.ts'

const templates = { tags: ['UTM templates'] }
const one = { ...templates, path: '/utm-templates/{id}' }

const routes = {
  list: apiRoute({
    ...templates,
    method: 'get',
    path: '/utm-templates',
    scope: 'links:read',
    operationId: 'listUtmTemplates',
    summary: 'List UTM templates',
    request: { query: UtmTemplateListQuery },
    responses: { 200: pageResponse(UtmTemplateShape, 'A page of UTM templates, newest first') },
  }),
  create: apiRoute({
    ...templates,
    method: 'post',
    path: '/utm-templates',
    scope: 'links:write',
    operationId: 'createUtmTemplate',
    summary: 'Create a UTM template',
    description:
      'A named set of UTM values. The dashboard fills links with it; the API takes the values on the link.',
    request: {
      body: jsonRequestBody(CreateUtmTemplate, {
        name: 'Newsletter',
        utmSource: 'newsletter',
        utmMedium: 'email',
      }),
    },
    responses: { 201: dataResponse(UtmTemplateShape, 'The new template') },
    fails: [409],
  }),
  get: apiRoute({
    ...one,
    method: 'get',
    scope: 'links:read',
    operationId: 'getUtmTemplate',
    summary: 'Get a UTM template',
    request: { params: IdParameter },
    responses: { 200: dataResponse(UtmTemplateShape, 'The template') },
    fails: [404],
  }),
  update: apiRoute({
    ...one,
    method: 'patch',
    scope: 'links:write',
    operationId: 'updateUtmTemplate',
    summary: 'Change a UTM template; links keep their values',
    request: {
      params: IdParameter,
      body: jsonRequestBody(UpdateUtmTemplate, { utmCampaign: 'spring-sale' }),
    },
    responses: { 200: dataResponse(UtmTemplateShape, 'The changed template') },
    fails: [404, 409],
  }),
  delete: apiRoute({
    ...one,
    method: 'delete',
    scope: 'links:write',
    operationId: 'deleteUtmTemplate',
    summary: 'Delete a UTM template; links keep their values',
    request: { params: IdParameter },
    responses: { 200: dataResponse(UtmTemplateShape, 'The template as it was') },
    fails: [404],
  }),
}

export function createUtmTemplatesApi({ now }: { now: () => number }) {
  const toNeeds = (c: Context<ApiEnv>) => ({ now, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listUtmTemplates(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.create, async (c) =>
      c.json({ data: await createUtmTemplate(toNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.get, async (c) => {
      const template = await getUtmTemplate(
        c.get('db').read,
        c.get('actor'),
        parseId(c.req.valid('param').id),
      )
      return c.json({ data: toUtmTemplateResource(template) }, 200)
    })
    .openapi(routes.update, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json(
        { data: await updateUtmTemplate(toNeeds(c), c.get('actor'), id, c.req.valid('json')) },
        200,
      )
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await deleteUtmTemplate(toNeeds(c), c.get('actor'), id) }, 200)
    })
}
