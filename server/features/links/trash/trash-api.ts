// The REST API of the trash of links (docs/contract.md §2).

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../../http/api-route.ts'
import { sendPage } from '../../../http/send-page.ts'
import { type ApiEnv, createApi } from '../../accounts/access/api-env.ts'
import type { LinkNeeds } from '../create.ts'
import * as shapes from '../schema.ts'
import { emptyTrash } from './empty-trash.ts'
import { listTrash } from './list-trash.ts'
import { restoreAllFromTrash, restoreFromTrash } from './restore-from-trash.ts'

const links = { tags: ['Links'] }

const routes = {
  listTrash: apiRoute({
    ...links,
    method: 'get',
    path: '/links/trash',
    scope: 'links:read',
    operationId: 'listTrash',
    summary: 'List the trash: deleted links, for 30 days',
    description: 'The link that was deleted last is first. A page ends at about 4 MiB.',
    request: { query: shapes.TrashQuery },
    responses: { 200: pageResponse(shapes.TrashedLinkShape, 'A page of the trash') },
  }),
  restoreLink: apiRoute({
    ...links,
    method: 'post',
    path: '/links/{id}/restore',
    scope: 'links:write',
    operationId: 'restoreLink',
    summary: 'Return a link from the trash',
    description: 'Its external id is null when another link has taken it.',
    request: { params: IdParameter },
    responses: { 200: dataResponse(shapes.LinkShape, 'The link, which redirects again') },
    fails: [404],
  }),
  restoreLinks: apiRoute({
    ...links,
    method: 'post',
    path: '/links/restore',
    scope: 'links:write',
    operationId: 'restoreLinks',
    summary: 'Return up to 100 links from the trash, all or nothing',
    request: { body: jsonRequestBody(shapes.RestoreLinks, { ids: [1] }) },
    responses: { 200: dataResponse(z.array(shapes.LinkShape), 'The links, which redirect again') },
    fails: [404],
  }),
  emptyTrash: apiRoute({
    ...links,
    method: 'delete',
    path: '/links/trash',
    scope: 'links:write',
    shows: 'any',
    operationId: 'emptyTrash',
    summary: 'Permanently delete all links in the trash',
    description: 'Suspended links stay.',
    responses: { 200: dataResponse(shapes.EmptiedTrashShape, 'How many links there were') },
  }),
}

export function createTrashApi(needs: Omit<LinkNeeds, 'db'>) {
  const getNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  return createApi()
    .openapi(routes.listTrash, async (c) => {
      const page = await listTrash(getNeeds(c), c.get('actor'), c.req.valid('query'))
      return sendPage(c, page)
    })
    .openapi(routes.restoreLinks, async (c) => {
      const { ids } = c.req.valid('json')
      return c.json({ data: await restoreAllFromTrash(getNeeds(c), c.get('actor'), ids) }, 200)
    })
    .openapi(routes.restoreLink, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await restoreFromTrash(getNeeds(c), c.get('actor'), id) }, 200)
    })
    .openapi(routes.emptyTrash, async (c) =>
      c.json({ data: await emptyTrash(getNeeds(c), c.get('actor')) }, 200),
    )
}
