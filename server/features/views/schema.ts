// Views as JSON: the API validates requests with these schemas, and its reference is generated from them.

import { z } from '@hono/zod-openapi'
import {
  flag,
  instant,
  oneOf,
  originPattern,
  PAGE_PARAMETERS,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { isTimeZone } from '../../lib/date-range.ts'
import { ATTRIBUTION_MODELS } from '../analytics/attribution-model.ts'
import { INTERVALS } from '../analytics/timeline.ts'
import { ALERT_WINDOWS } from './alert-schedule.ts'
import { FIGURE_METRICS } from './figure-metrics.ts'
import { REPORT_PERIODS } from './report-schedule.ts'

const NAME_MAX = 100
const PASSWORD_MAX = 256
const EMBED_MAX = 20
const MOMENT_MAX = 40
const ZONE_MAX = 64
const FILTER_MAX = 8192
const CHANNELS_MAX = 20
const PERCENT_MAX = 100_000
const MINIMUM_MAX = 1_000_000_000

const ShareShape = z
  .strictObject({
    url: z.url(),
    passwordProtected: z.boolean(),
    expiresAt: z.iso.datetime().nullable(),
    showLeads: z.boolean(),
  })
  .openapi('ViewShare')

const ReportShape = z
  .strictObject({
    every: z.enum(REPORT_PERIODS),
    at: z.string().openapi({ description: 'Time of the clock in the view’s time zone' }),
    channelIds: z.array(z.int()),
  })
  .openapi('ViewReport')
export type ReportSettings = z.infer<typeof ReportShape>

const ALERT_CHOICES = ['above', 'below', 'silent'] as const
/** Fields of alerts about a difference. Those about new links lack them. */
const DIFFERENCE_FIELDS = ['metric', 'percent', 'minimum'] as const

const AlertShape = z
  .strictObject({
    metric: z.enum(FIGURE_METRICS).optional(),
    when: z.enum(ALERT_CHOICES),
    percent: z.int().optional(),
    window: z.enum(ALERT_WINDOWS),
    minimum: z.int().optional(),
    channelIds: z.array(z.int()),
  })
  .openapi('ViewAlert')
export type AlertSettings = z.infer<typeof AlertShape>
export type DifferenceAlert = Required<AlertSettings> & { when: 'above' | 'below' }

export const isDifferenceAlert = (alert: AlertSettings): alert is DifferenceAlert => alert.when !== 'silent'

export const ViewShape = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    filters: z.record(z.string(), z.string()),
    interval: z.enum(INTERVALS).nullable().openapi({ description: 'null where start or end is set' }),
    start: z.string().nullable(),
    end: z.string().nullable(),
    timezone: z.string(),
    model: z.enum(ATTRIBUTION_MODELS),
    share: ShareShape.nullable().openapi({ description: 'null: it is not visible outside of the workspace' }),
    embed: z.array(z.string()),
    report: ReportShape.nullable(),
    alert: AlertShape.nullable(),
    nextReportAt: z.iso.datetime().nullable(),
    createdBy: z
      .strictObject({ userId: z.int(), name: z.string() })
      .nullable()
      .openapi({ description: 'The person who made it; null for an API key' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('View')
export type ViewResource = z.infer<typeof ViewShape>

const filters = z
  .record(z.string(), z.string({ error: 'must be a string' }), { error: 'must be an object of filters' })
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: FILTER_MAX },
    description:
      'Parameters of `GET /analytics/clicks` and `GET /analytics/leads`, written as there: `{"country": "US,BR"}`',
  })

const moment = (description: string) =>
  text(1, MOMENT_MAX).nullable().optional().openapi({ example: '2026-03-29', description })

const ShareInput = z
  .strictObject(
    {
      password: text(1, PASSWORD_MAX)
        .nullable()
        .optional()
        .openapi({ description: 'Write-only. Absent: stays as it is' }),
      expiresAt: instant()
        .nullable()
        .optional()
        .openapi({ description: 'From then on, the page is not found' }),
      showLeads: flag().nullable().optional().openapi({ description: 'false when absent: clicks only' }),
    },
    {
      error: ({ code }) =>
        code === 'invalid_type'
          ? 'must be null or an object of password, expiresAt and showLeads'
          : undefined,
    },
  )
  .openapi('ViewShareInput')

const channelIds = z
  .array(wholeNumber(1), { error: 'must be a list of channel ids' })
  .min(1, 'must have a channel')
  .max(CHANNELS_MAX, `must be at most ${CHANNELS_MAX} channels`)

const ReportInput = z
  .strictObject(
    {
      every: oneOf(REPORT_PERIODS),
      at: text(5, 5)
        .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of the clock such as 08:00')
        .openapi({ example: '08:00', description: 'In the time zone of the view' }),
      channelIds,
    },
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'must be null or an object of every, at and channelIds' : undefined,
    },
  )
  .openapi('ViewReportInput')

const AlertInput = z
  .strictObject(
    {
      metric: oneOf(FIGURE_METRICS).optional().openapi({ description: 'Absent for silent' }),
      when: oneOf(ALERT_CHOICES).openapi({
        description: 'silent tells of new links that have no click in their first hours',
      }),
      percent: wholeNumber(1, PERCENT_MAX).optional().openapi({
        example: 100,
        description:
          'How far above or below the mean: 100 above is twice as many, 100 below is none. Absent for silent',
      }),
      window: oneOf(ALERT_WINDOWS).openapi({
        description: 'The last full hours; for silent, the first hours of a link',
      }),
      minimum: wholeNumber(1, MINIMUM_MAX).optional().openapi({
        example: 50,
        description:
          'For above, the hours have at least this number; for below, the mean is at least this number. Absent for silent',
      }),
      channelIds,
    },
    {
      error: ({ code }) =>
        code === 'invalid_type'
          ? 'must be null or an object of metric, when, percent, window, minimum and channelIds'
          : undefined,
    },
  )
  .superRefine((alert, context) => {
    const isSilent = alert.when === 'silent'
    for (const name of DIFFERENCE_FIELDS)
      if ((alert[name] === undefined) !== isSilent)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: isSilent ? 'must be absent for silent' : 'is required',
        })
    if (alert.when === 'below' && (alert.percent ?? 0) > 100)
      context.addIssue({ code: 'custom', path: ['percent'], message: 'must be at most 100 for below' })
  })
  .openapi('ViewAlertInput')

const settings = {
  filters: filters
    .nullable()
    .optional()
    .openapi({ type: ['object', 'null'] }),
  interval: oneOf(INTERVALS).nullable().optional().openapi({
    description: '30d when neither this nor start nor end is given. It replaces start and end',
  }),
  start: moment('As in analytics. It replaces interval'),
  end: moment('As in analytics. It replaces interval'),
  timezone: text(1, ZONE_MAX)
    .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
    .nullable()
    .optional()
    .openapi({ example: 'Europe/Berlin', description: 'UTC when absent' }),
  model: oneOf(ATTRIBUTION_MODELS).nullable().optional().openapi({ description: 'last when absent' }),
  share: ShareInput.nullable().optional().openapi({
    description:
      'An object gives the view a page for everyone with its address; null removes the page immediately. A new page has a new address',
  }),
  embed: z
    .array(originPattern(), { error: 'must be a list of origins' })
    .max(EMBED_MAX, `must be at most ${EMBED_MAX} origins`)
    .nullable()
    .optional()
    .openapi({ description: 'Origins whose pages may frame the shared page; none when empty' }),
  report: ReportInput.nullable().optional().openapi({
    description:
      'Figures of the day, week (from Monday) or month before, to channels. They come each day, each Monday, or on the first of each month',
  }),
  alert: AlertInput.nullable().optional().openapi({
    description:
      'Tells channels when the last hours differ from the mean of the same hours in the four weeks before, or when a new link has no clicks; at most twice a day',
  }),
}

const name = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

export const CreateView = z.strictObject({ name, ...settings }).openapi('CreateView')
export const UpdateView = z.strictObject({ name: name.optional(), ...settings }).openapi('UpdateView')
export type CreateViewInput = z.infer<typeof CreateView>
export type UpdateViewInput = z.infer<typeof UpdateView>

export const ViewListQuery = z.strictObject(PAGE_PARAMETERS)
export type ViewListQueryInput = z.infer<typeof ViewListQuery>
