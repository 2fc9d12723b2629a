// POST /v1/links/destination-card and /v1/links/card-image: the card of a page, and the image of a card, for the link
// editor.

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, jsonRequestBody } from '../../../http/api-route.ts'
import type { SafeRequest } from '../../../http/safe-request.ts'
import { text } from '../../../lib/api-fields.ts'
import { URL_MAX } from '../../../lib/web-url.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import type { RateLimiter } from '../../accounts/access/rate-limiter.ts'
import type { Site } from '../link.ts'
import { fetchCardImage } from './fetch-card-image.ts'
import { fetchDestinationCard } from './fetch-destination-card.ts'
import { createFetchLimit } from './fetch-limit.ts'
import { CardImageShape, DestinationCardShape } from './schema.ts'

const FetchTarget = z.strictObject({
  url: text(1, URL_MAX).openapi({
    format: 'uri',
    description: 'A public http or https URL. The server fetches it and follows up to five redirects',
  }),
})

const shared = { tags: ['Links'], slow: true, idempotent: false, shows: 'any' as const }

const readDestinationCard = apiRoute({
  ...shared,
  method: 'post',
  scope: 'links:write',
  path: '/links/destination-card',
  operationId: 'readDestinationCard',
  summary: 'Read the card that a destination has itself',
  description:
    'Its title, description, image and site name, as Facebook, Slack and others read them. Nothing is stored. A page that cannot be read is a 200 with findings. 429 after 60 requests in a minute.',
  request: {
    body: jsonRequestBody(FetchTarget.openapi('ReadDestinationCard'), { url: 'https://example.com/' }),
  },
  responses: { 200: dataResponse(DestinationCardShape, 'The card') },
})

const readCardImage = apiRoute({
  ...shared,
  method: 'post',
  scope: 'links:write',
  path: '/links/card-image',
  operationId: 'readCardImage',
  summary: 'Fetch the image of a card',
  description:
    'So that a page can show it without asking the other server itself. An image that cannot be fetched is a 200 with findings. 429 after 60 requests in a minute.',
  request: {
    body: jsonRequestBody(FetchTarget.openapi('ReadCardImage'), { url: 'https://example.com/card.png' }),
  },
  responses: { 200: dataResponse(CardImageShape, 'The image') },
})

export interface CardsApiNeeds extends Pick<SafeRequest, 'allow' | 'resolve'> {
  site: Site
  limiter: Pick<RateLimiter, 'take'>
}

export function createCardsApi({ limiter, ...more }: CardsApiNeeds) {
  const needs = { ...more, limit: createFetchLimit(limiter) }
  return createApi()
    .openapi(readDestinationCard, async (c) =>
      c.json({ data: await fetchDestinationCard(needs, c.get('actor'), c.req.valid('json').url) }, 200),
    )
    .openapi(readCardImage, async (c) =>
      c.json({ data: await fetchCardImage(needs, c.get('actor'), c.req.valid('json').url) }, 200),
    )
}
