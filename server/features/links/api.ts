// The REST API of links (docs/contract.md §2).

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
import { sendPage } from '../../http/send-page.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { createLinks, deleteLinks, updateLinks } from './bulk.ts'
import { editLinks, undoEdit } from './bulk-edit/edit-links.ts'
import { EditedLinksShape, EditLinks } from './bulk-edit/schema.ts'
import { createLink, type LinkNeeds } from './create.ts'
import { deleteLink } from './delete.ts'
import { findSlugAvailability } from './find-slug-availability.ts'
import { getLink } from './get.ts'
import { toLinkResource } from './link.ts'
import { listLinks } from './list.ts'
import * as shapes from './schema.ts'
import { updateLink } from './update.ts'
import { upsertLink } from './upsert.ts'
import { toEtag } from './version.ts'

const { LinkShape } = shapes

const linkResponse = (description: string) => ({
  ...dataResponse(LinkShape, description),
  headers: z.object({
    ETag: z
      .string()
      .openapi({ description: 'The version of the settings, for If-Match: `updatedAt` in quotes' }),
  }),
})

/** A link with its version, for a later change with If-Match. */
function answerLink(c: Context<ApiEnv>, link: shapes.LinkResource) {
  c.header('ETag', toEtag(link.updatedAt))
  return c.json({ data: link }, 200)
}

const links = { tags: ['Links'] }

const routes = {
  listLinks: apiRoute({
    ...links,
    method: 'get',
    path: '/links',
    scope: 'links:read',
    operationId: 'listLinks',
    summary: 'List links',
    description: 'A page ends at about 4 MiB: it can be shorter than `limit` and have a `nextCursor`.',
    request: { query: shapes.LinkListQuery },
    responses: { 200: pageResponse(LinkShape, 'A page of links') },
  }),
  createLink: apiRoute({
    ...links,
    method: 'post',
    path: '/links',
    scope: 'links:write',
    operationId: 'createLink',
    summary: 'Create a link',
    request: {
      body: jsonRequestBody(shapes.CreateLink, {
        destinationUrl: 'https://example.com/sale',
        title: 'Spring sale',
        tagNames: ['newsletter'],
        utmSource: 'newsletter',
        utmMedium: 'email',
      }),
    },
    responses: { 201: dataResponse(LinkShape, 'The new link') },
    fails: [409],
  }),
  createLinks: apiRoute({
    ...links,
    method: 'post',
    path: '/links/bulk',
    takesList: true,
    scope: 'links:write',
    operationId: 'createLinks',
    summary: 'Create up to 100 links, all or nothing',
    request: {
      body: jsonRequestBody(shapes.CreateLinks, {
        links: [
          { destinationUrl: 'https://example.com/a' },
          { destinationUrl: 'https://example.com/b', tagNames: ['flyer'] },
        ],
      }),
    },
    responses: { 201: dataResponse(z.array(LinkShape), 'The new links, in the order of the request') },
    fails: [409],
  }),
  updateLinks: apiRoute({
    ...links,
    method: 'patch',
    path: '/links/bulk',
    takesList: true,
    scope: 'links:write',
    operationId: 'updateLinks',
    summary: 'Change up to 100 links, all or nothing',
    request: { body: jsonRequestBody(shapes.UpdateLinks, { ids: [1], data: { title: 'Spring sale' } }) },
    responses: { 200: dataResponse(z.array(LinkShape), 'The changed links, in the order of the request') },
    fails: [404, 409],
  }),
  editLinks: apiRoute({
    ...links,
    method: 'post',
    path: '/links/bulk-edit',
    scope: 'links:write',
    operationId: 'editLinks',
    summary: 'Make one change to up to 100 links, and undo it',
    description:
      'Each link changes by itself: `failed` names those that could not, and why. `undo` of the answer, sent as `undo`, takes ' +
      'the change back wherever nobody has changed the link since.',
    request: {
      body: jsonRequestBody(EditLinks, {
        ids: [1],
        changes: { replace: { find: 'http://', with: 'https://' }, utmCampaign: 'spring-sale' },
      }),
    },
    responses: { 200: dataResponse(EditedLinksShape, 'The links that changed, and those that did not') },
  }),
  deleteLinks: apiRoute({
    ...links,
    method: 'delete',
    path: '/links/bulk',
    scope: 'links:write',
    operationId: 'deleteLinks',
    summary: 'Move up to 100 links to the trash, all or nothing',
    request: { query: shapes.BulkDeleteQuery },
    responses: { 200: dataResponse(z.array(LinkShape), 'The deleted links') },
    fails: [404],
  }),
  upsertLink: apiRoute({
    ...links,
    method: 'put',
    path: '/links/upsert',
    scope: 'links:write',
    operationId: 'upsertLink',
    summary: 'Change the link with this external id or destination, or create it',
    request: {
      body: jsonRequestBody(shapes.CreateLink, {
        externalId: 'product-17',
        destinationUrl: 'https://example.com/products/17',
      }),
    },
    responses: {
      200: dataResponse(LinkShape, 'The changed link'),
      201: dataResponse(LinkShape, 'The new link'),
    },
    fails: [409],
  }),
  findSlugAvailability: apiRoute({
    ...links,
    method: 'get',
    path: '/links/slug-availability',
    scope: 'links:read',
    operationId: 'getSlugAvailability',
    summary: 'Whether a new link could have a slug',
    description: 'Another request can take the slug meanwhile: the answer reserves nothing.',
    request: { query: shapes.SlugQuery },
    responses: { 200: dataResponse(shapes.SlugAvailabilityShape, 'Whether the slug is free, and why not') },
  }),
  getLink: apiRoute({
    ...links,
    method: 'get',
    path: '/links/{id}',
    scope: 'links:read',
    operationId: 'getLink',
    summary: 'Get a link',
    request: { params: IdParameter },
    responses: { 200: linkResponse('The link') },
    fails: [404],
  }),
  updateLink: apiRoute({
    ...links,
    method: 'patch',
    path: '/links/{id}',
    scope: 'links:write',
    operationId: 'updateLink',
    summary: 'Change a link',
    request: {
      params: IdParameter,
      headers: shapes.IfMatchHeader,
      body: jsonRequestBody(shapes.UpdateLink, {
        title: 'Summer sale',
        expiresAt: '2030-06-01T00:00:00Z',
        expiredUrl: 'https://example.com/over',
      }),
    },
    responses: { 200: linkResponse('The changed link') },
    fails: [404, 409, 412],
  }),
  deleteLink: apiRoute({
    ...links,
    method: 'delete',
    path: '/links/{id}',
    scope: 'links:write',
    operationId: 'deleteLink',
    summary: 'Move a link to the trash',
    description: 'Its redirect stops at once. It keeps its slug and can return for 30 days.',
    request: { params: IdParameter, query: shapes.DeleteQuery, headers: shapes.IfMatchHeader },
    responses: { 200: dataResponse(LinkShape, 'The deleted link') },
    fails: [404, 412],
  }),
}

export function createLinksApi(needs: Omit<LinkNeeds, 'db'>) {
  const { site } = needs
  const getNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  return createApi()
    .openapi(routes.listLinks, async (c) => {
      const page = await listLinks(getNeeds(c), c.get('actor'), c.req.valid('query'), c.req.raw.signal)
      return sendPage(c, page)
    })
    .openapi(routes.createLink, async (c) =>
      c.json({ data: await createLink(getNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.createLinks, async (c) => {
      const body = c.req.valid('json')
      const inputs = Array.isArray(body) ? body : body.links
      return c.json({ data: await createLinks(getNeeds(c), c.get('actor'), inputs) }, 201)
    })
    .openapi(routes.updateLinks, async (c) => {
      const body = c.req.valid('json')
      const each = Array.isArray(body) ? body : 'links' in body ? body.links : undefined
      const inputs = each ?? ('ids' in body ? body.ids.map((id) => ({ ...body.data, id })) : [])
      return c.json({ data: await updateLinks(getNeeds(c), c.get('actor'), inputs) }, 200)
    })
    .openapi(routes.editLinks, async (c) => {
      const body = c.req.valid('json')
      const data =
        'undo' in body
          ? await undoEdit(getNeeds(c), c.get('actor'), body.undo)
          : await editLinks(getNeeds(c), c.get('actor'), body.ids, body.changes)
      return c.json({ data }, 200)
    })
    .openapi(routes.deleteLinks, async (c) => {
      const { ids, permanent } = c.req.valid('query')
      return c.json({ data: await deleteLinks(getNeeds(c), c.get('actor'), ids, permanent === 'true') }, 200)
    })
    .openapi(routes.upsertLink, async (c) => {
      const { link, created } = await upsertLink(getNeeds(c), c.get('actor'), c.req.valid('json'))
      return created ? c.json({ data: link }, 201) : c.json({ data: link }, 200)
    })
    .openapi(routes.findSlugAvailability, async (c) =>
      c.json({ data: await findSlugAvailability(getNeeds(c), c.get('actor'), c.req.valid('query')) }, 200),
    )
    .openapi(routes.getLink, async (c) => {
      const { read } = c.get('db')
      const link = await getLink(read, c.get('actor'), parseId(c.req.valid('param').id))
      return answerLink(c, await toLinkResource(read, site, link))
    })
    .openapi(routes.updateLink, async (c) => {
      const id = parseId(c.req.valid('param').id)
      const body = c.req.valid('json')
      return answerLink(c, await updateLink(getNeeds(c), c.get('actor'), id, body, c.req.header('if-match')))
    })
    .openapi(routes.deleteLink, async (c) => {
      const id = parseId(c.req.valid('param').id)
      const options = {
        permanent: c.req.valid('query').permanent === 'true',
        ifMatch: c.req.header('if-match'),
      }
      return c.json({ data: await deleteLink(getNeeds(c), c.get('actor'), id, options) }, 200)
    })
}
