// GET /links/favicons: the icons of sites for lists in the dashboard, which loads nothing from other servers.

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse } from '../../../http/api-route.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { createFaviconCache } from './favicon-cache.ts'
import { type FaviconNeeds, fetchFavicon } from './fetch-favicon.ts'

const HOSTS_MAX = 100
/** The head of a request is at most 16 KB. */
const TEXT_MAX = 12_000
const HOST = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/i

const FaviconQuery = z.strictObject({
  hosts: z
    .string()
    .max(TEXT_MAX)
    .transform((text) => [...new Set(text.toLowerCase().split(','))])
    .refine((hosts) => hosts.every((host) => HOST.test(host)), 'must be host names, with commas')
    .refine((hosts) => hosts.length <= HOSTS_MAX, `must be at most ${HOSTS_MAX} host names`)
    .openapi({
      type: 'string',
      maxLength: TEXT_MAX,
      description: `Up to ${HOSTS_MAX} host names, with commas`,
      example: 'example.com',
    }),
})

const Favicon = z
  .strictObject({
    host: z.string(),
    dataUrl: z.string().openapi({ description: 'A `data:` URL of a PNG, ICO, JPEG, GIF or WebP image' }),
  })
  .openapi('Favicon')

const favicons = apiRoute({
  method: 'get',
  path: '/links/favicons',
  scope: 'links:read',
  slow: true,
  operationId: 'listFavicons',
  tags: ['Links'],
  summary: 'Icons of the sites of destinations',
  description:
    'The icons that the server knows. It fetches new ones from public addresses in the background, and keeps them for a week: a missing icon may appear a few seconds later. None with `FAVICONS=off`.',
  request: { query: FaviconQuery },
  responses: { 200: dataResponse(z.array(Favicon), 'One entry for each host with an icon') },
})

export interface FaviconsApiNeeds extends FaviconNeeds {
  hasFavicons: boolean
  now: () => number
}

export function createFaviconsApi({ hasFavicons, now, ...needs }: FaviconsApiNeeds) {
  const cache = createFaviconCache((host) => fetchFavicon(needs, `https://${host}`), now)
  return createApi().openapi(favicons, async (c) => {
    const { hosts } = c.req.valid('query')
    const icons = hasFavicons ? await cache.find(c.get('actor').workspaceId, hosts) : []
    return c.json({ data: [...icons].map(([host, dataUrl]) => ({ host, dataUrl })) }, 200)
  })
}
