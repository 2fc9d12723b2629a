// GET /links/{id}/clicks: the clicks of a link for programs that poll (docs/contract.md §15).

import { apiRoute, IdParameter, parseId } from '../../../http/api-route.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { type LinkClicksNeeds, listLinkClicks } from './list-link-clicks.ts'
import { ClickFeedQuery, ClickFeedShape } from './schema.ts'

const linkClicks = apiRoute({
  method: 'get',
  path: '/links/{id}/clicks',
  scope: ['links:read', 'analytics:read'],
  operationId: 'listLinkClicks',
  tags: ['Links'],
  summary: "Page through a link's clicks as they come",
  description:
    'For programs that poll. The rows are those of `GET /analytics/clicks/export`, without imported ones. Ask again with the ' +
    '`after` of the answer: each click comes once, also one that a server delivers late. The order is that in which the ' +
    'clicks were stored, and not always that of their times.',
  request: { params: IdParameter, query: ClickFeedQuery },
  responses: {
    200: {
      description: 'The clicks after the position',
      content: { 'application/json': { schema: ClickFeedShape } },
    },
  },
  fails: [404],
})

export const createLinkClicksApi = (needs: Omit<LinkClicksNeeds, 'db'>) =>
  createApi().openapi(linkClicks, async (c) => {
    const id = parseId(c.req.valid('param').id)
    return c.json(
      await listLinkClicks({ ...needs, db: c.get('db') }, c.get('actor'), id, c.req.valid('query')),
      200,
    )
  })
