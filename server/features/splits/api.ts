// GET /links/{id}/split and POST /links/{id}/split/end (docs/contract.md §14).

import { apiRoute, dataResponse, IdParameter, parseId } from '../../http/api-route.ts'
import { toIso, toIsoOrNull } from '../../lib/iso-time.ts'
import { allow } from '../accounts/access/actor.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { getLink } from '../links/get.ts'
import { LinkShape } from '../links/schema.ts'
import { type EndSplitNeeds, endSplit, toRunningSplit } from './end-split.ts'
import { SplitShape } from './schema.ts'
import { readSplitFigures } from './split-figures.ts'

const read = apiRoute({
  tags: ['Links'],
  method: 'get',
  path: '/links/{id}/split',
  scope: ['links:read', 'analytics:read'],
  operationId: 'getSplit',
  summary: 'Clicks and leads of the variants of a link',
  request: { params: IdParameter },
  responses: { 200: dataResponse(SplitShape, 'The split that runs') },
  fails: [404, 409],
})

const end = apiRoute({
  tags: ['Links'],
  method: 'post',
  path: '/links/{id}/split/end',
  scope: ['links:write', 'links:read', 'analytics:read'],
  operationId: 'endSplit',
  summary: 'End a split now',
  description:
    'The best variant becomes the destination; the first one where the difference may be chance. ' +
    '`splitResult` of the link keeps the figures.',
  request: { params: IdParameter },
  responses: { 200: dataResponse(LinkShape, 'The link') },
  fails: [404, 409],
})

export function createSplitsApi({ ...needs }: Omit<EndSplitNeeds, 'db'>) {
  return createApi()
    .openapi(read, async (c) => {
      const link = await getLink(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      const split = toRunningSplit(link)
      const figures = await readSplitFigures({ ...needs, db: c.get('db') }, split)
      const data = { startedAt: toIso(split.startedAt), endsAt: toIsoOrNull(link.split_ends_at), ...figures }
      return c.json({ data }, 200)
    })
    .openapi(end, async (c) => {
      allow(c.get('actor'), 'links:write')
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await endSplit({ ...needs, db: c.get('db') }, c.get('actor'), id) }, 200)
    })
}
