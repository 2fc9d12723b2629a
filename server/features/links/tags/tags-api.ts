// The REST API of tags (docs/contract.md §3).

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
import { CreateTag, TagListQuery, TagShape, UpdateTag } from '../schema.ts'
import { createTag } from './create-tag.ts'
import { deleteTag } from './delete-tag.ts'
import { listTags } from './list-tags.ts'
import { updateTag } from './update-tag.ts'

const tags = { tags: ['Tags'] }

const routes = {
  listTags: apiRoute({
    ...tags,
    method: 'get',
    path: '/tags',
    scope: 'links:read',
    operationId: 'listTags',
    summary: 'List tags',
    request: { query: TagListQuery },
    responses: { 200: pageResponse(TagShape, 'A page of tags') },
  }),
  createTag: apiRoute({
    ...tags,
    method: 'post',
    path: '/tags',
    scope: 'links:write',
    operationId: 'createTag',
    summary: 'Create a tag',
    request: { body: jsonRequestBody(CreateTag, { name: 'Trade fair', color: 'teal' }) },
    responses: { 201: dataResponse(TagShape, 'The new tag') },
    fails: [409],
  }),
  updateTag: apiRoute({
    ...tags,
    method: 'patch',
    path: '/tags/{id}',
    scope: 'links:write',
    operationId: 'updateTag',
    summary: 'Change a tag',
    request: { params: IdParameter, body: jsonRequestBody(UpdateTag, { color: 'blue' }) },
    responses: { 200: dataResponse(TagShape, 'The changed tag') },
    fails: [404, 409],
  }),
  deleteTag: apiRoute({
    ...tags,
    method: 'delete',
    path: '/tags/{id}',
    scope: 'links:write',
    operationId: 'deleteTag',
    summary: 'Delete a tag; its links stay',
    request: { params: IdParameter },
    responses: { 200: dataResponse(TagShape, 'The deleted tag') },
    fails: [404],
  }),
}

export function createTagsApi({ now }: { now: () => number }) {
  const getNeeds = (c: Context<ApiEnv>) => ({ now, db: c.get('db') })
  return createApi()
    .openapi(routes.listTags, async (c) =>
      c.json(await listTags(getNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.createTag, async (c) =>
      c.json({ data: await createTag(getNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(routes.updateTag, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await updateTag(getNeeds(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(routes.deleteTag, async (c) =>
      c.json({ data: await deleteTag(getNeeds(c), c.get('actor'), parseId(c.req.valid('param').id)) }, 200),
    )
}
