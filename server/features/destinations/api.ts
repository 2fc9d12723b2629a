// The REST API of destinations (docs/contract.md §15b): their list, and the repair of links.

import { apiRoute, dataResponse, jsonRequestBody, pageResponse } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import type { LinkNeeds } from '../links/create.ts'
import { listDestinations } from './list-destinations.ts'
import { repairDestination } from './repair-destination.ts'
import {
  DestinationListQuery,
  DestinationShape,
  REPAIR_MAX,
  RepairDestination,
  RepairShape,
} from './schema.ts'
import type { DestinationSync } from './sync-destinations.ts'

export interface DestinationsApiNeeds extends Omit<LinkNeeds, 'db'> {
  sync: DestinationSync
}

const routes = {
  list: apiRoute({
    tags: ['Destinations'],
    method: 'get',
    path: '/destinations',
    scope: 'links:read',
    operationId: 'listDestinations',
    summary: 'List destinations of links, broken ones first',
    description:
      'Each distinct destination of live links, with its last check: destinations, expiration URLs, targets of rules, ' +
      'countries and devices, and variants. Empty unless `watchDestinations` of the workspace is on. Destinations are checked ' +
      'once a day; one that fails is checked again after 8 hours. Addresses of this server and of apps are not watched.',
    request: { query: DestinationListQuery },
    responses: { 200: pageResponse(DestinationShape, 'A page of destinations') },
  }),
  repair: apiRoute({
    tags: ['Destinations'],
    method: 'post',
    path: '/destinations/repair',
    scope: 'links:write',
    operationId: 'repairDestination',
    summary: 'Replace a destination in all links that have it',
    description:
      `All or nothing, in at most ${REPAIR_MAX.toLocaleString('en-US')} links a call, archived and expired ones too: in the destination, ` +
      'the expiration URL, the targets of rules, countries and devices, and variants. A split test with a changed variant ' +
      'starts again. `left` says how many links still have it.',
    request: {
      body: jsonRequestBody(RepairDestination, {
        from: 'https://example.com/landing',
        to: 'https://example.com/landing-2',
      }),
    },
    responses: { 200: dataResponse(RepairShape, 'The changed links') },
    fails: [404],
  }),
}

export const createDestinationsApi = ({ sync, ...needs }: DestinationsApiNeeds) =>
  createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listDestinations({ db: c.get('db'), sync }, c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.repair, async (c) => {
      const actor = c.get('actor')
      const data = await repairDestination({ ...needs, db: c.get('db') }, actor, c.req.valid('json'))
      sync.expire(actor.workspaceId)
      return c.json({ data }, 200)
    })
