// Social cards over the REST API: a destination's own card, and the image of a card. The server fetches both, so that the
// browser requests nothing from other servers.

import { queryOptions } from '@tanstack/react-query'
import type { CardImageResource, DestinationCardResource } from '../../server/features/links/cards/schema.ts'
import type { Api } from './client.ts'

/** Long enough to edit one link. */
const FRESH_MS = 60_000

export const destinationCardQuery = (api: Api, url: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'cards', 'destination', url],
    queryFn: () => api.post<DestinationCardResource>('/links/destination-card', { url }),
    staleTime: FRESH_MS,
    retry: false,
  })

export const cardImageQuery = (api: Api, url: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'cards', 'image', url],
    queryFn: () => api.post<CardImageResource>('/links/card-image', { url }),
    staleTime: FRESH_MS,
    retry: false,
  })
