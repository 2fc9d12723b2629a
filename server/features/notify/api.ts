// Channels and deliveries over REST (contract §9).

import type { Context } from 'hono'
import { apiRoute, dataOf, IdParameter, jsonOf, pageOf, toId } from '../../http/api-route.ts'
import { type ApiEnv, newApi } from '../accounts/guard.ts'
import type { AttemptNeeds } from './attempt.ts'
import { channelResource, findChannel } from './channel.ts'
import { createChannel } from './create-channel.ts'
import { deleteChannel } from './delete-channel.ts'
import type { Wake } from './deliver.ts'
import { findDelivery } from './find-delivery.ts'
import { listChannels } from './list-channels.ts'
import { listDeliveries } from './list-deliveries.ts'
import { retryDelivery, retryFailed } from './retry-delivery.ts'
import { rotateSecret } from './rotate-secret.ts'
import * as shapes from './schema.ts'
import { testChannel } from './test-channel.ts'
import { updateChannel } from './update-channel.ts'

export interface NotifyApiNeeds extends Omit<AttemptNeeds, 'rows'> {
  now: () => number
  wake: Wake
}

const { ChannelShape, NewChannelShape, DeliveryShape, DeliveryDetailShape } = shapes
const channels = { tags: ['Channels'] }
const deliveries = { tags: ['Deliveries'] }
const numbered = { params: IdParameter }

const channelRoutes = {
  list: apiRoute({
    ...channels,
    method: 'get',
    path: '/channels',
    operationId: 'listChannels',
    summary: 'List channels, newest first',
    request: { query: shapes.ChannelListQuery },
    responses: { 200: pageOf(ChannelShape, 'A page of channels') },
  }),
  create: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels',
    operationId: 'createChannel',
    summary: 'Create a channel',
    description:
      'An e-mail channel has `to`; Slack, Discord, Teams and webhooks have `url`; Telegram has `botToken` and ' +
      '`chatId`. Forms name the channels they notify in `channelIds`.',
    request: { body: jsonOf(shapes.CreateChannel) },
    responses: { 201: dataOf(NewChannelShape, "The new channel, with a webhook's signing secret") },
  }),
  get: apiRoute({
    ...channels,
    method: 'get',
    path: '/channels/{id}',
    operationId: 'getChannel',
    summary: 'Get a channel',
    request: numbered,
    responses: { 200: dataOf(ChannelShape, 'The channel') },
    fails: [404],
  }),
  update: apiRoute({
    ...channels,
    method: 'patch',
    path: '/channels/{id}',
    operationId: 'updateChannel',
    summary: 'Change a channel',
    description: 'To set `enabled` to true begins anew with it: what waited for it is delivered now.',
    request: { ...numbered, body: jsonOf(shapes.UpdateChannel) },
    responses: { 200: dataOf(ChannelShape, 'The changed channel') },
    fails: [404],
  }),
  delete: apiRoute({
    ...channels,
    method: 'delete',
    path: '/channels/{id}',
    operationId: 'deleteChannel',
    summary: 'Delete a channel and the record of its deliveries',
    request: numbered,
    responses: { 200: dataOf(ChannelShape, 'The deleted channel') },
    fails: [404],
  }),
  test: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels/{id}/test',
    operationId: 'testChannel',
    summary: 'Send a test notification and wait for how it ends',
    description:
      'Made once, and not tried again. A test that failed is a 200 too: its `status` is `failed`. ' +
      'After one that arrives, what waits for the channel is tried at once.',
    request: numbered,
    responses: { 200: dataOf(DeliveryDetailShape, 'The delivery, with its attempt') },
    fails: [404],
  }),
  rotate: apiRoute({
    ...channels,
    method: 'post',
    path: '/channels/{id}/rotate-secret',
    operationId: 'rotateChannelSecret',
    summary: 'Give a webhook a new signing secret',
    description: 'For 24 hours each request carries both signatures, so that the receiver can change over.',
    request: numbered,
    responses: { 200: dataOf(NewChannelShape, 'The channel with its new secret') },
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
    description: 'Filters can be combined, and a delivery must pass all of them.',
    request: { query: shapes.DeliveryListQuery },
    responses: { 200: pageOf(DeliveryShape, 'A page of deliveries') },
  }),
  retryFailed: apiRoute({
    ...deliveries,
    method: 'post',
    path: '/deliveries/retry',
    operationId: 'retryFailedDeliveries',
    summary: 'Begin all deliveries anew that have failed since a time',
    request: { body: jsonOf(shapes.RetryFailed) },
    responses: { 200: dataOf(shapes.RetriedShape, 'How many') },
  }),
  get: apiRoute({
    ...deliveries,
    method: 'get',
    path: '/deliveries/{id}',
    operationId: 'getDelivery',
    summary: 'Get a delivery and its attempts',
    request: numbered,
    responses: { 200: dataOf(DeliveryDetailShape, 'The delivery') },
    fails: [404],
  }),
  retry: apiRoute({
    ...deliveries,
    method: 'post',
    path: '/deliveries/{id}/retry',
    operationId: 'retryDelivery',
    summary: 'Begin a delivery anew, at once',
    description:
      'Also one that was delivered. It keeps its `messageId`. Of a channel that is switched off it waits until that is on again.',
    request: numbered,
    responses: { 200: dataOf(DeliveryDetailShape, 'The delivery') },
    fails: [404],
  }),
}

type Ctx = Context<ApiEnv>

export function notifyApi(needs: NotifyApiNeeds) {
  const within = (c: Ctx) => ({ ...needs, rows: c.get('rows') })
  const api = newApi()
    .openapi(channelRoutes.list, async (c) =>
      c.json(await listChannels(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(channelRoutes.create, async (c) =>
      c.json({ data: await createChannel(within(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(channelRoutes.get, async (c) => {
      const row = await findChannel(c.get('rows').read, c.get('actor'), toId(c.req.valid('param').id))
      return c.json({ data: channelResource(row) }, 200)
    })
    .openapi(channelRoutes.update, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await updateChannel(within(c), c.get('actor'), id, c.req.valid('json')) }, 200)
    })
    .openapi(channelRoutes.delete, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await deleteChannel(within(c), c.get('actor'), id) }, 200)
    })
    .openapi(channelRoutes.test, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await testChannel(within(c), c.get('actor'), id) }, 200)
    })
    .openapi(channelRoutes.rotate, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await rotateSecret(within(c), c.get('actor'), id) }, 200)
    })
  return addDeliveries(api, within)
}

type Within = (c: Ctx) => NotifyApiNeeds & { rows: ApiEnv['Variables']['rows'] }

const addDeliveries = (api: ReturnType<typeof newApi>, within: Within) =>
  api
    .openapi(deliveryRoutes.list, async (c) =>
      c.json(await listDeliveries(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(deliveryRoutes.retryFailed, async (c) =>
      c.json({ data: await retryFailed(within(c), c.get('actor'), c.req.valid('json')) }, 200),
    )
    .openapi(deliveryRoutes.get, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await findDelivery(c.get('rows').read, c.get('actor'), id) }, 200)
    })
    .openapi(deliveryRoutes.retry, async (c) => {
      const id = toId(c.req.valid('param').id)
      return c.json({ data: await retryDelivery(within(c), c.get('actor'), id) }, 200)
    })
