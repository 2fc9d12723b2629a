// The REST routes of channels and deliveries (docs/contract.md §9).

import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { askChannelRecipients, describeChannel, getChannel, listChannels } from './channels/channel.ts'
import type { WakeDeliverer } from './channels/contract.ts'
import { createChannel } from './channels/create-channel.ts'
import { deleteChannel } from './channels/delete-channel.ts'
import { rotateSecret } from './channels/rotate-secret.ts'
import { updateChannel } from './channels/update-channel.ts'
import type { AttemptNeeds } from './delivery/attempt-delivery.ts'
import { getDelivery } from './delivery/get-delivery.ts'
import { listDeliveries } from './delivery/list-deliveries.ts'
import { retryDelivery, retryFailed } from './delivery/retry-delivery.ts'
import { testChannel } from './delivery/test-channel.ts'
import { previewChannel } from './preview/preview-channel.ts'
import * as shapes from './schema.ts'

export interface NotifyApiNeeds extends Omit<AttemptNeeds, 'db'> {
  now: () => number
  wake: WakeDeliverer
}

const { ChannelShape, NewChannelShape, DeliveryShape, DeliveryDetailShape } = shapes
const channels = { tags: ['Channels'], scope: 'channels:write' as const }
const deliveries = { tags: ['Deliveries'], scope: 'channels:write' as const }
const idParameter = { params: IdParameter }
/** For answers with the signing secret of a webhook. A client that lost it can ask again with its Idempotency-Key. */
const showsSecret = { secretInAnswer: true }

const channelRoutes = {
  list: apiRoute({
    ...channels,
    method: 'get',
    path: '/channels',
    operationId: 'listChannels',
    summary: 'List channels, newest first',
    request: { query: shapes.ChannelListQuery },
    responses: { 200: pageResponse(ChannelShape, 'A page of channels') },
  }),
  create: apiRoute({
    ...channels,
    ...showsSecret,
    method: 'post',
    path: '/channels',
    operationId: 'createChannel',
    summary: 'Create a channel',
    description:
      'An email channel has `to`; Slack, Discord, Teams and webhooks have `url`; Telegram has `botToken` and ' +
      '`chatId`. Forms name the channels they notify in `channelIds`.',
    request: {
      body: jsonRequestBody(shapes.CreateChannel, {
        type: 'webhook',
        name: 'CRM',
        url: 'https://example.com/hooks/towpath',
      }),
    },
    responses: { 201: dataResponse(NewChannelShape, "The new channel, with a webhook's signing secret") },
    fails: [409],
  }),
  get: apiRoute({
    ...channels,
    method: 'get',
    path: '/channels/{id}',
    operationId: 'getChannel',
    summary: 'Get a channel',
    request: idParameter,
    responses: { 200: dataResponse(ChannelShape, 'The channel') },
    fails: [404],
  }),
  update: apiRoute({
    ...channels,
    method: 'patch',
    path: '/channels/{id}',
    operationId: 'updateChannel',
    summary: 'Change a channel',
    description: 'Setting `enabled` to true clears its failures: its waiting deliveries are attempted now.',
    request: { ...idParameter, body: jsonRequestBody(shapes.UpdateChannel, { name: 'Sales' }) },
    responses: { 200: dataResponse(ChannelShape, 'The changed channel') },
    fails: [404],
  }),
  delete: apiRoute({
    ...channels,
    method: 'delete',
    path: '/channels/{id}',
    operationId: 'deleteChannel',
    summary: 'Delete a channel and the record of its deliveries',
    request: idParameter,
    responses: { 200: dataResponse(ChannelShape, 'The deleted channel') },
    fails: [404],
  }),
  test: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels/{id}/test',
    slow: true,
    operationId: 'testChannel',
    summary: 'Send a test notification and wait for the result',
    description:
      'A test is attempted once. The answer to a failed test is a 200 too: its `status` is `failed`. ' +
      'After a test that arrives, the waiting deliveries of the channel are attempted at once.',
    request: idParameter,
    responses: { 200: dataResponse(DeliveryDetailShape, 'The delivery, with its attempt') },
    fails: [404],
  }),
  ask: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels/{id}/ask-recipients',
    slow: true,
    operationId: 'askChannelRecipients',
    summary: 'Ask the unconfirmed recipients of an email channel again',
    description:
      'A recipient gets notifications after following the link in the email. New recipients are asked immediately, so this ' +
      'is for an email that was lost. 429 when they were asked too often today.',
    request: idParameter,
    responses: {
      200: dataResponse(shapes.AskedRecipientsShape, 'The number of recipients that an email was sent to'),
    },
    fails: [404],
  }),
  preview: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels/{id}/preview',
    scope: ['channels:write', 'submissions:read'],
    // No stored answer: it would be a copy of a visitor's text, and the request changes nothing.
    idempotent: false,
    operationId: 'previewChannel',
    summary: 'Show what a channel would send',
    description: 'Uses an unsaved template, and a submission of the workspace. Nothing is sent or saved.',
    request: {
      ...idParameter,
      body: jsonRequestBody(shapes.PreviewChannel, { template: null }),
    },
    responses: { 200: dataResponse(shapes.PreviewShape, 'The message') },
    fails: [404],
  }),
  rotate: apiRoute({
    ...channels,
    ...showsSecret,
    method: 'post',
    path: '/channels/{id}/rotate-secret',
    operationId: 'rotateChannelSecret',
    summary: 'Give a webhook a new signing secret',
    description: 'For 24 hours each request has both signatures, so that the receiver can switch secrets.',
    request: idParameter,
    responses: { 200: dataResponse(NewChannelShape, 'The channel with its new secret') },
    fails: [404],
  }),
}

const deliveryRoutes = {
  list: apiRoute({
    ...deliveries,
    method: 'get',
    path: '/deliveries',
    operationId: 'listDeliveries',
    summary: 'List deliveries, newest first',
    description: 'Filters can be combined; a delivery must match all of them.',
    request: { query: shapes.DeliveryListQuery },
    responses: { 200: pageResponse(DeliveryShape, 'A page of deliveries') },
  }),
  retryFailed: apiRoute({
    ...deliveries,
    method: 'post',
    path: '/deliveries/retry',
    operationId: 'retryFailedDeliveries',
    summary: 'Retry all failed deliveries that were created since a time',
    request: { body: jsonRequestBody(shapes.RetryFailed, { since: '2026-01-01T00:00:00Z' }) },
    responses: { 200: dataResponse(shapes.RetriedShape, 'How many deliveries start again') },
  }),
  get: apiRoute({
    ...deliveries,
    method: 'get',
    path: '/deliveries/{id}',
    operationId: 'getDelivery',
    summary: 'Get a delivery and its attempts',
    request: idParameter,
    responses: { 200: dataResponse(DeliveryDetailShape, 'The delivery') },
    fails: [404],
  }),
  retry: apiRoute({
    ...deliveries,
    method: 'post',
    path: '/deliveries/{id}/retry',
    operationId: 'retryDelivery',
    summary: 'Retry a delivery now',
    description:
      'Works for delivered deliveries too. One of a digest is sent alone; a digest is sent again as a whole. The delivery keeps its `messageId`. While its channel is disabled, it waits.',
    request: idParameter,
    responses: { 200: dataResponse(DeliveryDetailShape, 'The delivery') },
    fails: [404],
  }),
}

type Ctx = Context<ApiEnv>

export function createNotifyApi(needs: NotifyApiNeeds) {
  // `c.get('db')` is the request's transaction if it has one.
  const within = (c: Ctx) => ({ ...needs, db: c.get('db') })
  const api = createApi()
    .openapi(channelRoutes.list, async (c) =>
      c.json(await listChannels(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(channelRoutes.create, async (c) =>
      c.json({ data: await createChannel(within(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(channelRoutes.get, async (c) => {
      const row = await getChannel(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      const describing = { ...needs, connection: c.get('db').read }
      return c.json({ data: await describeChannel(describing, row) }, 200)
    })
    .openapi(channelRoutes.update, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await updateChannel(within(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(channelRoutes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await deleteChannel(within(c), c.get('actor'), id) }, 200)
    })
    .openapi(channelRoutes.test, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await testChannel(within(c), c.get('actor'), id) }, 200)
    })
    .openapi(channelRoutes.ask, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await askChannelRecipients(within(c), c.get('actor'), id) }, 200)
    })
    .openapi(channelRoutes.preview, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await previewChannel(within(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(channelRoutes.rotate, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await rotateSecret(within(c), c.get('actor'), id) }, 200)
    })
  return addDeliveries(api, within)
}

type RequestNeeds = (c: Ctx) => NotifyApiNeeds & { db: ApiEnv['Variables']['db'] }

const addDeliveries = (api: ReturnType<typeof createApi>, within: RequestNeeds) =>
  api
    .openapi(deliveryRoutes.list, async (c) =>
      c.json(await listDeliveries(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(deliveryRoutes.retryFailed, async (c) =>
      c.json({ data: await retryFailed(within(c), c.get('actor'), c.req.valid('json')) }, 200),
    )
    .openapi(deliveryRoutes.get, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await getDelivery(c.get('db').read, c.get('actor'), id) }, 200)
    })
    .openapi(deliveryRoutes.retry, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await retryDelivery(within(c), c.get('actor'), id) }, 200)
    })
