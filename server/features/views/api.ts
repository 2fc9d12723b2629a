// The REST API of saved views (docs/contract.md §15b).

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
import { createView, type ViewNeeds } from './create-view.ts'
import { deleteView } from './delete-view.ts'
import { listViews } from './list-views.ts'
import { CreateView, UpdateView, ViewListQuery, ViewShape } from './schema.ts'
import { updateView } from './update-view.ts'
import { getView, toViewResource } from './view.ts'

const views = { tags: ['Views'] }
const one = { ...views, path: '/views/{id}', fails: [404 as const] }

const routes = {
  list: apiRoute({
    ...views,
    method: 'get',
    path: '/views',
    scope: 'analytics:read',
    operationId: 'listViews',
    summary: 'List views',
    request: { query: ViewListQuery },
    responses: { 200: pageResponse(ViewShape, 'A page of views, newest first') },
  }),
  create: apiRoute({
    ...views,
    method: 'post',
    path: '/views',
    scope: 'analytics:write',
    operationId: 'createView',
    summary: 'Save a view',
    description:
      'A view is a name for filters and a range of analytics. `share` gives it a page for people without an account, ' +
      "which can narrow the view's selection and never widen it.",
    request: {
      body: jsonRequestBody(CreateView, { name: 'Spring campaign', filters: { utmCampaign: 'spring' } }),
    },
    responses: { 201: dataResponse(ViewShape, 'The view') },
    fails: [409],
  }),
  get: apiRoute({
    ...one,
    method: 'get',
    scope: 'analytics:read',
    operationId: 'getView',
    summary: 'Get a view',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ViewShape, 'The view') },
  }),
  update: apiRoute({
    ...one,
    method: 'patch',
    scope: 'analytics:write',
    operationId: 'updateView',
    summary: 'Change a view, share it, or end its share',
    request: { params: IdParameter, body: jsonRequestBody(UpdateView, { share: { showLeads: true } }) },
    responses: { 200: dataResponse(ViewShape, 'The view') },
  }),
  delete: apiRoute({
    ...one,
    method: 'delete',
    scope: 'analytics:write',
    operationId: 'deleteView',
    summary: 'Delete a view with its shared page',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ViewShape, 'The view as it was') },
  }),
}

export function createViewsApi({ now, origin }: Omit<ViewNeeds, 'db'>) {
  const toNeeds = (c: Context<ApiEnv>) => ({ now, origin, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listViews(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.create, async (c) =>
      c.json({ data: await createView(toNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.get, async (c) => {
      const view = await getView(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      return c.json({ data: toViewResource(origin, view) }, 200)
    })
    .openapi(routes.update, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await updateView(toNeeds(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await deleteView(toNeeds(c), c.get('actor'), id) }, 200)
    })
}
