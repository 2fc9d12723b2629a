// Social cards over the REST API: the card that a destination has itself, and the image of a card. The server fetches
// both, so that the browser asks no other server.

import { queryOptions } from '@tanstack/react-query'
import type { CardImageResource, DestinationCardResource } from '../../server/features/links/cards/schema.ts'
import type { Api } from './client.ts'

/** Long enough for the editing of one link. */
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
