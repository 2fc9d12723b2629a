// The webhooks of the API description: what channels of type webhook are sent for each event.

import { z } from '@hono/zod-openapi'
import type { createApi } from '../features/accounts/access/api-env.ts'
import { ClickShape } from '../features/analytics/feed/schema.ts'
import { SubmissionShape, TouchShape } from '../features/forms/submissions/schema.ts'
import { CLOSE_REASONS, LinkShape } from '../features/links/schema.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from '../features/notify/events/channel-events.ts'
import { OutcomeShape } from '../features/outcomes/schema.ts'

const SubmissionEventShape = z
  .strictObject({
    ...SubmissionShape.shape,
    link: z
      .strictObject({
        id: z.int(),
        slug: z.string(),
        domain: z.string(),
        shortUrl: z.url(),
        destinationUrl: z.string(),
        title: z.string().nullable(),
        externalId: z.string().nullable(),
      })
      .nullable()
      .openapi({
        description: 'The link that brought the sender, also a deleted one; null when none is known',
      }),
    tags: LinkShape.shape.tags.openapi({ description: 'The tags of that link' }),
    touches: z
      .array(TouchShape)
      .openapi({ description: 'As `GET /submissions/{id}/attribution` lists them' }),
    heldAs: z
      .literal('spam')
      .optional()
      .openapi({ description: 'Present when it was held back as spam by mistake' }),
  })
  .openapi('SubmissionEvent')

const ClosedLinkShape = z
  .strictObject({ ...LinkShape.shape, reason: z.enum(CLOSE_REASONS) })
  .openapi('ClosedLink')

const ClicksShape = z
  .strictObject({ count: z.int(), clicks: z.array(ClickShape).openapi({ description: 'At most 500' }) })
  .openapi('Clicks')

const EVENTS: Record<ChannelEvent, { data: z.ZodType; summary: string; description: string }> = {
  'submission.created': {
    data: SubmissionEventShape,
    summary: 'A form was sent',
    description: 'To the channels of the form, once the submission is no spam and its sender is confirmed.',
  },
  'outcome.recorded': {
    data: OutcomeShape,
    summary: 'An outcome of a lead was recorded or changed',
    description: 'One event for each outcome of a request.',
  },
  'link.created': {
    data: LinkShape,
    summary: 'A link was created, or has returned from the trash',
    description: 'Imports send none.',
  },
  'link.updated': {
    data: LinkShape,
    summary: 'A link was changed',
    description:
      'The link after the change. `updatedAt` tells which of two is newer: events may overtake each other.',
  },
  'link.deleted': { data: LinkShape, summary: 'A link was deleted', description: 'The link as it was.' },
  'link.clicked': {
    data: ClicksShape,
    summary: 'People have clicked',
    description:
      'Up to 500 clicks of the workspace, at most every five seconds; more only where more have come. Each click is in one ' +
      'delivery of the channel.',
  },
  'link.closed': {
    data: ClosedLinkShape,
    summary: 'A link has expired or reached its limit',
    description:
      'With the click or the lead that uses the last one of `clickLimit` or `leadLimit`, or within a minute after ' +
      '`expiresAt`.',
  },
  'split.decided': {
    data: LinkShape,
    summary: 'A split has ended',
    description: 'The link with its `splitResult`.',
  },
}

const HEADERS = {
  'webhook-id': 'The same in every attempt',
  'webhook-timestamp': 'Seconds since 1970, of this attempt',
  'webhook-signature': 'Signatures by Standard Webhooks, separated by spaces',
  'towpath-event-version': 'The version of `data`; `1`. New fields come without a new version',
}

/** Call it once, before the document is made. */
export function describeWebhooks(api: ReturnType<typeof createApi>): void {
  for (const event of CHANNEL_EVENTS) {
    const { data, summary, description } = EVENTS[event]
    const body = z.strictObject({ type: z.literal(event), timestamp: z.iso.datetime(), data })
    api.openAPIRegistry.registerWebhook({
      path: event,
      method: 'post',
      operationId: `on.${event}`,
      tags: ['Channels'],
      summary,
      security: [],
      description,
      request: {
        headers: Object.entries(HEADERS).map(([name, about]) =>
          z.string().openapi({ param: { name, in: 'header', required: true, description: about } }),
        ),
        body: { required: true, content: { 'application/json': { schema: body } } },
      },
      responses: {
        200: { description: 'Any 2xx status: the event has arrived' },
        410: { description: 'The receiver accepts no more: the channel is disabled' },
      },
    })
  }
}
