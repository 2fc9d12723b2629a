// The wire shapes of channels and deliveries. The API validates with these shapes, and its reference is generated from
// them.

import { z } from '@hono/zod-openapi'
import {
  dateRangeEnd,
  flag,
  instant,
  numberParameter,
  oneOf,
  PAGE_PARAMETERS,
  parameter,
  requireStartBeforeEnd,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { isTimeZone } from '../../lib/date-range.ts'
import { EMAIL_MAX, isEmail } from '../../lib/email.ts'
import { CHANNEL_TYPES, CHANNEL_URL_MAX, DELIVERY_OUTCOMES } from './channels/channel-types.ts'
import { CHANNEL_EVENTS, type ChannelEvent, SUBMISSION_EVENT } from './events/channel-events.ts'
import { EVENT_FILTERS, parseFilterField } from './events/channel-filter.ts'
import { findTemplateMistake } from './templates/parse-template.ts'
import { DIGESTS } from './timing/plan-delivery.ts'

export type ChannelType = (typeof CHANNEL_TYPES)[number]
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const
export const EVENTS = [
  ...CHANNEL_EVENTS,
  'submission.digest',
  'test',
  'channel.disabled',
  'channel.behind',
  'view.report',
  'view.alert',
  'reply',
  'confirm',
  'team_reply',
] as const

/** The methods of a channel of type http. All of them have a body. */
export const HTTP_METHODS = ['POST', 'PUT', 'PATCH'] as const
export const HTTP_HEADERS_MAX = 20
export const HTTP_HEADER_VALUE_MAX = 4096
export const HTTP_BODY_MAX = 20_000

export const RECIPIENTS_MAX = 20
const ID_MAX = 999_999_999_999_999

const TemplateShape = z
  .strictObject({ subject: z.string().nullable(), text: z.string() })
  .openapi('ChannelTemplate')
export type ChannelTemplate = z.infer<typeof TemplateShape>

const QuietHoursShape = z
  .strictObject({ start: z.string(), end: z.string(), timezone: z.string() })
  .openapi('QuietHours')

const channel = {
  id: z.int(),
  type: z.enum(CHANNEL_TYPES),
  name: z.string(),
  to: z.array(z.string()).openapi({ description: 'The recipients of an email channel' }),
  unconfirmed: z.array(z.string()).openapi({
    description: 'Recipients who have not confirmed yet: they get no emails',
  }),
  stopped: z.array(z.string()).openapi({
    description:
      'Recipients who have unsubscribed from this workspace: they get no emails, and are not asked again',
  }),
  url: z.string().nullable().openapi({
    description: 'Masked for chat services, because everyone who knows the address can post there',
  }),
  chatId: z.string().nullable(),
  method: z.enum(HTTP_METHODS).nullable().openapi({ description: 'Of a channel of type http' }),
  headers: z.record(z.string(), z.string()).nullable().openapi({
    description:
      'Of a channel of type http. Every value but that of Content-Type is `(hidden)`, because it may be a secret.',
  }),
  body: z.string().nullable().openapi({ description: 'The template of a channel of type http' }),
  events: z.array(z.enum(CHANNEL_EVENTS)).openapi({ description: 'The events of the channel' }),
  filter: z.record(z.string(), z.string()).nullable().openapi({
    description: 'Events that do not pass all of these filters are left out',
  }),
  enabled: z.boolean(),
  disabledReason: z
    .string()
    .nullable()
    .openapi({ description: 'Why Towpath disabled the channel. Its waiting deliveries are kept.' }),
  unavailableReason: z.string().nullable().openapi({
    description:
      'The reason that this server cannot send to the channel: no mail server, or an address in a private network',
  }),
  failingSince: z.iso.datetime().nullable().openapi({
    description:
      'When the first of the failures since the last success happened; null when the channel works',
  }),
  lastError: z
    .string()
    .nullable()
    .openapi({ description: 'Why the last attempt failed; null when the channel works' }),
  lastDeliveryAt: z.iso.datetime().nullable(),
  waiting: z.int().openapi({
    description: 'Notifications on their way to the channel. 10,000 means 10,000 or more.',
  }),
  oldestWaitingAt: z.iso
    .datetime()
    .nullable()
    .openapi({ description: 'When the oldest of them was created; null when none waits' }),
  behindSince: z.iso
    .datetime()
    .nullable()
    .openapi({
      description:
        'Since when more notifications come than the channel takes: for half a minute the oldest was due for over a minute, ' +
        'and their number grew. Null while the channel keeps up.',
    }),
  template: TemplateShape.nullable().openapi({ description: "Null for Towpath's own layout" }),
  digest: z.enum(DIGESTS).nullable().openapi({
    description: 'One message for all submissions of an hour or a day; null for one message each',
  }),
  quietHours: QuietHoursShape.nullable().openapi({
    description: 'Notifications that would be sent in them wait for their end',
  }),
  attachUpTo: z.int().openapi({
    description: "Attaches a submission's files to its email up to this total size in bytes; 0 attaches none",
  }),
  allForms: z.boolean().openapi({ description: 'New forms begin with the channel' }),
  forms: z.int().openapi({ description: 'How many forms use the channel' }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
}
export const ChannelShape = z.strictObject(channel).openapi('Channel')
export type ChannelResource = z.infer<typeof ChannelShape>

export const NewChannelShape = z
  .strictObject({
    ...channel,
    secret: z
      .string()
      .nullable()
      .openapi({ description: 'The signing secret of a webhook (Standard Webhooks); shown only this once' }),
  })
  .openapi('NewChannel')
export type NewChannelResource = z.infer<typeof NewChannelShape>

const channelName = text(1, 100)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

const address = text(1, EMAIL_MAX).trim().refine(isEmail, 'must be an email address')

const SUBJECT_MAX = 200
const TEMPLATE_MAX = 5_000

const templatePart = (part: 'subject' | 'text', max: number) =>
  text(1, max).superRefine((value, context) => {
    const message = findTemplateMistake(value, part)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

const template = z
  .strictObject({
    subject: templatePart('subject', SUBJECT_MAX)
      .nullable()
      .optional()
      .openapi({
        description:
          'The subject of an email, or the title of a chat message: one line. It may contain `{{form}}`, `{{attribution}}` and ' +
          '`{{field:name}}`, of which at most 100 characters are shown. null: the default subject.',
        example: 'New lead: {{field:company}}',
      }),
    text: templatePart('text', TEMPLATE_MAX).openapi({
      description:
        'Plain text with `{{form}}`, `{{fields}}` (all of them), `{{field:name}}` (one), `{{files}}`, `{{attribution}}` ' +
        'and `{{url}}`. Files, attribution and link are added at the end when the text does not contain them.',
      example: '{{field:name}} asks about {{form}}:\n{{field:message}}',
    }),
  })
  .openapi('ChannelTemplateInput')

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const clockTime = () =>
  text(5, 5)
    .refine((value) => CLOCK.test(value), 'must be a time such as 22:00')
    .openapi({ pattern: CLOCK.source })

const quietHours = z
  .strictObject({
    start: clockTime().openapi({ example: '22:00' }),
    end: clockTime().openapi({ example: '07:00', description: 'Before the start: on the next day' }),
    timezone: text(1, 64)
      .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
      .openapi({ example: 'Europe/Berlin' }),
  })
  .superRefine(({ start, end }, context) => {
    if (start === end)
      context.addIssue({ code: 'custom', path: ['end'], message: 'must be another time than the start' })
  })
  .openapi('QuietHoursInput')

/** The most forms of a workspace. */
const FORMS_MAX = 1000

/** The characters of one filter. */
const FILTER_MAX = 1000

/** Most mail servers take 25 MB, and a mail has a file in a third more bytes. */
const ATTACH_MAX = 10 * 1024 * 1024

const headers = z
  .record(z.string(), text(0, HTTP_HEADER_VALUE_MAX), { error: 'must be an object of texts' })
  .refine((all) => Object.keys(all).length <= HTTP_HEADERS_MAX, `must be at most ${HTTP_HEADERS_MAX} headers`)

const channelEvents = z
  .array(oneOf(CHANNEL_EVENTS), { error: 'must be a list of events' })
  .min(1, 'must name at least one event')
  .max(CHANNEL_EVENTS.length, 'must name each event once')
  .transform((events): ChannelEvent[] => CHANNEL_EVENTS.filter((event) => events.includes(event)))
  .openapi({
    type: 'array',
    items: { type: 'string', enum: [...CHANNEL_EVENTS] },
    minItems: 1,
    maxItems: CHANNEL_EVENTS.length,
    description:
      `\`${SUBMISSION_EVENT}\` when absent: the forms that name the channel decide which submissions. Every other event ` +
      'of the workspace comes without a form, and only to channels of type webhook and http.',
    example: ['link.created', 'link.clicked'],
  })

const filterField = (name: string) =>
  text(1, FILTER_MAX).superRefine((value, context) => {
    const read = parseFilterField(name, value)
    if (typeof read === 'string') context.addIssue({ code: 'custom', message: read })
  })

const FILTER_NAMES = [...new Set(Object.values(EVENT_FILTERS).flat())]
const filter = z
  .strictObject(Object.fromEntries(FILTER_NAMES.map((name) => [name, filterField(name).optional()])))
  .openapi('ChannelFilterInput', {
    description:
      'In the grammar of analytics: `US,BR` is any of them, `-US` all but it. Every event of the channel must have the ' +
      'filter: links have `linkId`, `tagId`, `domain` and `slug`; clicks, submissions and outcomes the visitor as well.',
    example: { tagId: '3,7', country: '-US' },
  })

/** The settings of all channel types. `channels/channel-settings.ts` decides which type has which. */
const fields = {
  enabled: flag().nullable().optional().openapi({ description: 'true when absent' }),
  to: z
    .array(address, { error: 'must be a list of email addresses' })
    .min(1, 'must name at least one address')
    .max(RECIPIENTS_MAX, `must be at most ${RECIPIENTS_MAX} addresses`)
    .optional()
    .openapi({ description: 'For email channels', example: ['team@example.com'] }),
  url: text(1, CHANNEL_URL_MAX)
    .optional()
    .openapi({
      format: 'uri',
      description:
        'For Slack (also an incoming webhook of Mattermost or Rocket.Chat, `https://chat.example.com/hooks/…`), Discord, ' +
        'Teams (the address of a Workflow), webhooks and http (any address)',
      example: 'https://example.com/hooks/towpath',
    }),
  botToken: text(1, 200).optional().openapi({ description: 'For Telegram; no answer ever shows it' }),
  chatId: text(1, 100)
    .optional()
    .openapi({ description: 'For Telegram: a number, or the @name of a channel' }),
  method: oneOf(HTTP_METHODS).optional().openapi({ description: 'For http; POST when absent' }),
  headers: headers.optional().openapi({
    description:
      'For http. Stored encrypted. In a change, `(hidden)` keeps the stored value of a header, and a header that is not ' +
      'named is gone. `Content-Type` says how placeholders are escaped: `application/json` (when absent), ' +
      '`application/x-www-form-urlencoded` or `text/plain`.',
    example: { Authorization: 'Bearer …', 'Content-Type': 'application/json' },
  }),
  body: text(1, HTTP_BODY_MAX)
    .optional()
    .openapi({
      description:
        'For http: the body, with placeholders such as `{{fields.email}}` or `{{link.shortUrl}}`. Their values are escaped, so ' +
        'that no text of a sender ends the place where it stands. An unknown placeholder is refused. docs/integrations.md ' +
        'lists them.',
      example: '{"email": "{{fields.email}}", "source": "{{utmSource}}"}',
    }),
  events: channelEvents
    .nullable()
    .optional()
    .openapi({ type: ['array', 'null'] }),
  filter: filter.nullable().optional(),
  template: template.nullable().optional().openapi({
    description: 'Not for webhooks, which have a fixed body, and not for http, which has `body`',
  }),
  digest: oneOf(DIGESTS)
    .nullable()
    .optional()
    .openapi({
      description:
        'One message for all submissions of an hour, or of a day (at 08:00 in the time zone of the quiet hours, else UTC). ' +
        'Not for webhooks and http',
    }),
  quietHours: quietHours.nullable().optional().openapi({ description: 'Not for webhooks and http' }),
  attachUpTo: wholeNumber(0, ATTACH_MAX).nullable().optional().openapi({
    description:
      'For email channels: bytes of all files of a submission together, at most 10 MiB. 0 when absent: mails have links',
  }),
  allForms: flag().nullable().optional().openapi({
    description: 'true: every form uses the channel now, and new forms begin with it. false when absent',
  }),
  formKeys: z
    .array(text(1, 64), { error: 'must be a list of form keys' })
    .max(FORMS_MAX, `must be at most ${FORMS_MAX} forms`)
    .optional()
    .openapi({
      description: 'Exactly these forms use the channel from now on. Not together with `allForms: true`',
    }),
}

function refuseBothUses(
  { allForms, formKeys }: { allForms?: boolean | null; formKeys?: string[] },
  context: z.RefinementCtx,
) {
  if (allForms && formKeys !== undefined)
    context.addIssue({ code: 'custom', path: ['formKeys'], message: 'must be absent where allForms is true' })
}

/** The type and the name of an imported channel. Its other settings are not judged again. */
export const ImportedChannel = z.object({ type: oneOf(CHANNEL_TYPES), name: channelName })

export const CreateChannel = z
  .strictObject({ type: oneOf(CHANNEL_TYPES), name: channelName, ...fields })
  .superRefine(refuseBothUses)
  .openapi('CreateChannel')
export const UpdateChannel = z
  .strictObject({ name: channelName.optional(), ...fields })
  .superRefine(refuseBothUses)
  .openapi('UpdateChannel')
export type CreateChannelInput = z.infer<typeof CreateChannel>
export type UpdateChannelInput = z.infer<typeof UpdateChannel>

export const PreviewChannel = z
  .strictObject({
    template: template.nullable().openapi({ description: 'As it would be saved; null for no template' }),
    submissionId: wholeNumber(1, ID_MAX).optional().openapi({
      description: 'The newest submission of the forms that name the channel when absent, else a made-up one',
    }),
  })
  .openapi('PreviewChannel')
export type PreviewChannelInput = z.infer<typeof PreviewChannel>

export const PreviewShape = z
  .strictObject({
    submissionId: z.int().nullable().openapi({ description: 'Null where the preview shows made-up text' }),
    subject: z.string().openapi({
      description: 'The subject of the email, the title of the chat message, or the event of the webhook',
    }),
    text: z.string().openapi({ description: 'The message as text, or the body of the webhook' }),
    html: z.string().optional().openapi({ description: 'For email: the part that most mail programs show' }),
  })
  .openapi('ChannelPreview')
export type PreviewResource = z.infer<typeof PreviewShape>

export const AskedRecipientsShape = z
  .strictObject({
    mailed: z.int().openapi({ description: 'The number of recipients that an email was sent to' }),
  })
  .openapi('AskedRecipients')

export const ChannelListQuery = z.strictObject(PAGE_PARAMETERS)
export type ChannelListQueryInput = z.infer<typeof ChannelListQuery>

export const DeliveryShape = z
  .strictObject({
    id: z.int(),
    channelId: z.int().nullable().openapi({
      description: 'Null for an email to the sender (`reply`, `confirm`, `team_reply`), which has no channel',
    }),
    submissionId: z.int().nullable(),
    formKey: z.string().nullable(),
    formName: z.string().nullable(),
    sender: z.string().nullable().openapi({
      description:
        "The submission's email address, else its name. Null for an API key without the scope `submissions:read`.",
    }),
    event: z.enum(EVENTS),
    digestId: z.int().nullable().openapi({
      description: 'The digest that sends this delivery, with its attempts; null without a digest',
    }),
    messageId: z.string().openapi({ description: 'The same in all attempts: the `webhook-id` of a webhook' }),
    status: z.enum(DELIVERY_STATUSES),
    attemptCount: z.int().openapi({
      description: 'All attempts, including those before a manual retry, without interrupted ones',
    }),
    interruptedCount: z.int().openapi({
      description: 'Attempts whose result is unknown, because Towpath stopped in the middle',
    }),
    lastError: z.string().nullable().openapi({
      description: 'Why the last attempt failed, or why the delivery waits; null once it is delivered',
    }),
    nextAttemptAt: z.iso.datetime().nullable().openapi({
      description: 'Null unless it waits. While its channel is disabled, no attempt is made.',
    }),
    createdAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable(),
  })
  .openapi('Delivery')
export type DeliveryResource = z.infer<typeof DeliveryShape>

const AttemptShape = z.strictObject({
  attempt: z.int(),
  outcome: z.enum(DELIVERY_OUTCOMES).openapi({
    description: 'interrupted: Towpath stopped before it knew the result, so the message may have arrived',
  }),
  httpStatus: z.int().nullable(),
  answer: z.string().nullable().openapi({ description: "The first kilobyte of the service's answer" }),
  tookMs: z.int(),
  at: z.iso.datetime(),
})

const SentRequestShape = z.strictObject({
  method: z.string().openapi({ description: 'An HTTP method, or `SMTP`', example: 'POST' }),
  url: z.string().nullable().openapi({ description: "Masked like the channel's address; null for an email" }),
  headers: z.record(z.string(), z.string()).openapi({ description: 'Signatures are hidden' }),
  body: z.string().openapi({ description: 'The first 16 KiB. For an email, its plain text.' }),
  bodyBytes: z.int().openapi({ description: 'The size of the whole body' }),
})

export const DeliveryDetailShape = z
  .strictObject({
    ...DeliveryShape.shape,
    request: SentRequestShape.nullable().openapi({
      description:
        'The last request, kept for 30 days. Null when none was sent, such as to a refused address, and ' +
        'for an API key without the scope `submissions:read`. Without an answer, it may not have arrived.',
    }),
    attempts: z
      .array(AttemptShape)
      .openapi({ description: 'Newest first, at most 100; attempts are kept for 30 days' }),
  })
  .openapi('DeliveryDetail')
export type DeliveryDetail = z.infer<typeof DeliveryDetailShape>

export const DeliveryListQuery = z
  .strictObject({
    ...PAGE_PARAMETERS,
    status: oneOf(DELIVERY_STATUSES).optional(),
    channelId: numberParameter(1, ID_MAX).optional(),
    formKey: parameter(64).optional(),
    submissionId: numberParameter(1, ID_MAX).optional(),
    start: dateRangeEnd('start', 'An instant, or a date (its first moment, UTC)'),
    end: dateRangeEnd('end', 'An instant (exclusive), or a date (the whole day counts, UTC)'),
  })
  .superRefine(requireStartBeforeEnd)
export type DeliveryListQueryInput = z.infer<typeof DeliveryListQuery>

export const RetryFailed = z
  .strictObject({
    since: instant().openapi({ description: 'Retries deliveries that were created since then' }),
    channelId: wholeNumber(1, ID_MAX).optional(),
  })
  .openapi('RetryFailed')
export type RetryFailedInput = z.infer<typeof RetryFailed>

export const RetriedShape = z
  .strictObject({ retried: z.int().openapi({ description: 'How many deliveries start again' }) })
  .openapi('Retried')
