// The shapes of forms and submissions in the API. They validate requests, and the API reference is generated from them.

import { z } from '@hono/zod-openapi'
import {
  dateRangeEnd,
  flag,
  numberParameter,
  oneOf,
  parameter,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { EMAIL_MAX, isEmail } from '../../lib/email.ts'
import { checkUrl } from '../../lib/web-url.ts'
import { normalizeOrigin, ORIGIN_MAX } from './settings/allowed-origins.ts'
import { CAPTCHA_FIELD, hasControlPrefix } from './settings/control-fields.ts'
import { FORM_KEY } from './settings/form-key.ts'
import { NEXT_HOST_MAX, normalizeNextHost } from './settings/next-hosts.ts'

export const SUBMISSION_STATUSES = ['new', 'read', 'archived', 'spam'] as const
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number]
/** The column never holds `pending`: a submission is pending while its `attribution_due` is 1. */
export const ATTRIBUTIONS = ['measured', 'inferred', 'pending', 'none'] as const
export const SUBMISSION_EXPORT_FORMATS = ['csv', 'json', 'ndjson'] as const
export type SubmissionExportFormat = (typeof SUBMISSION_EXPORT_FORMATS)[number]

/** The text fields about where a submission came from, in the order of the export's columns. */
export const SOURCE_FIELDS = ['referrer', 'pageUrl', 'landingUrl'] as const
export const CAMPAIGN_FIELDS = ['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'] as const
export const VISITOR_FIELDS = ['device', 'browser', 'os', 'country', 'region', 'city'] as const

/**
 * Where a browser goes after a native submission: back to the Referer, as for every form that names nothing else, or to
 * a page of this server.
 */
export const RETURN_MODES = ['referer', 'hosted'] as const
export type ReturnMode = (typeof RETURN_MODES)[number]
export const DEFAULT_RETURN_MODE: ReturnMode = 'referer'

const REDIRECT_MAX = 2048
const LIST_MAX = 100
const NEXT_HOSTS_MAX = 50
/** The endpoint has the same limit for the name of a field. */
const FIELD_NAME_MAX = 256
/** A list with every status once has 22 characters; this leaves room for repetitions. */
const STATUSES_MAX = 50

export const FormShape = z
  .strictObject({
    formKey: z.string(),
    name: z.string(),
    endpoint: z.url().openapi({ description: 'The URL for the `action` of the form on your page' }),
    enabled: z.boolean(),
    requiredFields: z.array(z.string()),
    redirectUrl: z.string().nullable(),
    pageUrl: z.string().nullable(),
    afterSubmit: z.enum(RETURN_MODES),
    onError: z.enum(RETURN_MODES),
    captcha: z.boolean(),
    successMessage: z.string().nullable(),
    allowedOrigins: z.array(z.string()).openapi({ description: 'Empty: any page may post' }),
    nextHosts: z.array(z.string()).openapi({ description: 'Empty: `_next` may lead to any host' }),
    channelIds: z.array(z.int()),
    submissions: z.int().openapi({ description: 'Number of stored submissions' }),
    lastSubmissionAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Form')
export type FormResource = z.infer<typeof FormShape>

const toNullableTexts = <const T extends readonly string[]>(names: T) =>
  Object.fromEntries(names.map((name) => [name, z.string().nullable()])) as Record<
    T[number],
    z.ZodNullable<z.ZodString>
  >

export const SubmissionShape = z
  .strictObject({
    id: z.int(),
    formKey: z.string(),
    formName: z.string(),
    fields: z.record(z.string(), z.string()).openapi({
      description: "The fields that were sent, with the sender's names and in the sender's order",
    }),
    status: z.enum(SUBMISSION_STATUSES),
    notes: z.string().nullable(),
    email: z.string().nullable(),
    duplicateOf: z
      .int()
      .nullable()
      .openapi({ description: 'The identical submission that came shortly before' }),
    ...toNullableTexts([...SOURCE_FIELDS, ...CAMPAIGN_FIELDS]),
    linkId: z.int().nullable(),
    link: z
      .strictObject({ slug: z.string(), shortUrl: z.url(), title: z.string().nullable() })
      .nullable()
      .openapi({ description: 'The names of the link; null when the link is unknown or gone' }),
    clickId: z.string().nullable(),
    eventId: z.string().nullable(),
    sessionLinked: z.boolean(),
    attribution: z.enum(ATTRIBUTIONS).openapi({
      description:
        'How linkId is known: measured by the tracking snippet, inferred from a click of the same visitor shortly ' +
        'before, or not at all (none). pending: not decided yet, because analytics are catching up; it becomes ' +
        'inferred or none later, without another request',
    }),
    ...toNullableTexts(VISITOR_FIELDS),
    createdAt: z.iso.datetime(),
  })
  .openapi('Submission')

/** In our code `fields` is a Map, because an object does not keep the sender's order. */
export type SubmissionResource = Omit<z.infer<typeof SubmissionShape>, 'fields'> & {
  fields: Map<string, string>
}

export const TOUCH_TYPES = ['click', 'campaign', 'referrer', 'direct'] as const

export const TouchShape = z
  .strictObject({
    type: z.enum(TOUCH_TYPES),
    why: z
      .string()
      .openapi({ description: 'Sentences that say why this counts, and which part of the lead it gets' }),
    at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'null where only the request of the form tells about it' }),
    isFirst: z.boolean().openapi({ description: 'It gets the lead with `model=first`' }),
    isLast: z.boolean().openapi({ description: 'It gets the lead with `model=last`' }),
    linearCredit: z
      .number()
      .openapi({ description: 'Its part of the lead with `model=linear`; all parts together are 1' }),
    linkId: z.int().nullable(),
    slug: z.string().nullable(),
    shortUrl: z.string().nullable(),
    clickId: z.string().nullable(),
    ...toNullableTexts([...SOURCE_FIELDS, ...CAMPAIGN_FIELDS]),
  })
  .openapi('Touch')
export type TouchResource = z.infer<typeof TouchShape>

const mustBeObject = {
  error: ({ code }: { code?: string }) => (code === 'invalid_type' ? 'must be an object' : undefined),
}

const formName = text(1, 200)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

const requiredField = text(1, FIELD_NAME_MAX)
  .refine((name) => !hasControlPrefix(name), 'must not start with "_": such fields are never stored')
  .refine((name) => name !== CAPTCHA_FIELD, "is the captcha's own field; set captcha to true instead")

const webUrl = (description: string, example: string) =>
  text(1, REDIRECT_MAX)
    .transform((value, context) => {
      const checked = checkUrl(value, { schemes: [] })
      if ('href' in checked && checked.href.length <= REDIRECT_MAX) return checked.href
      const message = 'wrong' in checked ? checked.wrong : `must be at most ${REDIRECT_MAX} characters`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .nullable()
    .optional()
    .openapi({
      type: ['string', 'null'],
      format: 'uri',
      minLength: 1,
      maxLength: REDIRECT_MAX,
      description,
      example,
    })

const returnMode = (description: string) =>
  oneOf(RETURN_MODES)
    .nullable()
    .optional()
    .openapi({ description: `${description} ${DEFAULT_RETURN_MODE} when absent` })

const allowedOrigin = text(1, ORIGIN_MAX)
  .transform((value, context) => {
    const origin = normalizeOrigin(value)
    if (origin !== undefined) return origin
    context.addIssue({
      code: 'custom',
      message: 'must be an origin such as https://example.com or https://*.example.com',
    })
    return z.NEVER
  })
  .openapi({ type: 'string', minLength: 1, maxLength: ORIGIN_MAX, example: 'https://*.example.com' })

const nextHost = text(1, NEXT_HOST_MAX)
  .transform((value, context) => {
    const host = normalizeNextHost(value)
    if (host !== undefined) return host
    context.addIssue({ code: 'custom', message: 'must be a host such as example.com or example.com:8443' })
    return z.NEVER
  })
  .openapi({ type: 'string', minLength: 1, maxLength: NEXT_HOST_MAX, example: 'example.com' })

/** The settings of a form, all optional. `null` sets the value of a new form. */
const fields = {
  enabled: flag().nullable().optional().openapi({ description: 'true when absent' }),
  requiredFields: z
    .array(requiredField, { error: 'must be a list of field names' })
    .max(LIST_MAX, `must be at most ${LIST_MAX} names`)
    .refine((names) => new Set(names).size === names.length, 'must name each field once')
    .nullable()
    .optional()
    .openapi({ example: ['email'] }),
  redirectUrl: webUrl(
    'Where a browser goes after a submission without the snippet. It goes before `afterSubmit`',
    'https://example.com/thanks',
  ),
  pageUrl: webUrl(
    'The page that has the form. It stands in for a Referer that is only the origin of the same site',
    'https://example.com/contact',
  ),
  afterSubmit: returnMode(
    'After a submission without the snippet: `referer` leads back to the page, `hosted` to a page of this server with ' +
      '`successMessage` and a link back to the page.',
  ),
  onError: returnMode(
    'After a mistake in a submission without the snippet: `referer` leads back to the page with the messages in ' +
      '`_errors`, `hosted` shows them on a page of this server (422).',
  ),
  captcha: flag().nullable().optional().openapi({ description: 'false when absent' }),
  successMessage: text(1, 1000).nullable().optional(),
  allowedOrigins: z
    .array(allowedOrigin, { error: 'must be a list of origins' })
    .max(LIST_MAX, `must be at most ${LIST_MAX} origins`)
    .nullable()
    .optional()
    .openapi({
      description: 'Pages that may post; any when empty. Scheme, host and port, or any host below one',
    }),
  nextHosts: z
    .array(nextHost, { error: 'must be a list of hosts' })
    .max(NEXT_HOSTS_MAX, `must be at most ${NEXT_HOSTS_MAX} hosts`)
    .nullable()
    .optional()
    .openapi({
      description:
        'Hosts that `_next` may lead to; any when empty. A `_next` to another host is skipped. Without a port, the default ' +
        'ports of http and https are meant',
    }),
  channelIds: z
    .array(wholeNumber(1), { error: 'must be a list of channel ids' })
    .max(LIST_MAX, `must be at most ${LIST_MAX} channels`)
    .nullable()
    .optional(),
}

export const CreateForm = z.strictObject({ name: formName, ...fields }, mustBeObject).openapi('CreateForm')
export const UpdateForm = z
  .strictObject({ name: formName.optional(), ...fields }, mustBeObject)
  .openapi('UpdateForm')
export type CreateFormInput = z.infer<typeof CreateForm>
export type UpdateFormInput = z.infer<typeof UpdateForm>

export const FormListQuery = z.strictObject({
  limit: numberParameter(1, 100).optional(),
  cursor: parameter(1000).optional(),
})
export type FormListQueryInput = z.infer<typeof FormListQuery>

export const FormKeyParameter = z.object({
  formKey: z.string().openapi({
    param: { name: 'formKey', in: 'path' },
    type: 'string',
    pattern: FORM_KEY.source,
    example: 'k7m2xw9qpd',
  }),
})

// The filter allows as many characters as the column can hold.
const exactText = (max: number) => parameter(max).optional()

const isStatus = (text: string) => (SUBMISSION_STATUSES as readonly string[]).includes(text)
const STATUS_MESSAGE = `must be one of ${SUBMISSION_STATUSES.join(', ')}`

/** A list such as `new,read`: a submission with any of these statuses passes. */
const statuses = z
  .string({ error: STATUS_MESSAGE })
  .max(STATUSES_MAX, STATUS_MESSAGE)
  .transform((value) => value.split(','))
  .refine((all): all is SubmissionStatus[] => all.every(isStatus), STATUS_MESSAGE)
  .optional()
  .openapi({
    type: 'string',
    maxLength: STATUSES_MAX,
    pattern: `^(${SUBMISSION_STATUSES.join('|')})(,(${SUBMISSION_STATUSES.join('|')}))*$`,
    description: 'Any of them, separated by commas',
    example: 'new,read',
  })

/** The filters that choose submissions. Lists and the export have the same. */
const SELECTION = {
  start: dateRangeEnd('start', 'An instant, or a date (its first moment, UTC)'),
  end: dateRangeEnd('end', 'An instant (exclusive), or a date (the whole day counts, UTC)'),
  search: parameter(200)
    .optional()
    .openapi({ description: 'Part of any value that was sent, in upper or lower case' }),
  status: statuses,
  email: exactText(EMAIL_MAX).openapi({ description: 'Without regard to case' }),
  attribution: oneOf(ATTRIBUTIONS).optional(),
  linkId: numberParameter(1, 999_999_999_999_999).optional(),
  referrer: exactText(255).openapi({ description: 'Host of the page the visitor came from' }),
  utmSource: exactText(256),
  utmMedium: exactText(256),
  utmCampaign: exactText(256),
  utmTerm: exactText(256),
  utmContent: exactText(256),
  device: exactText(255),
  browser: exactText(255),
  os: exactText(255),
  country: exactText(255).openapi({ description: 'Two letters, without regard to case', example: 'DE' }),
  region: exactText(255),
  city: exactText(255),
}
export const SELECTION_TEXT_FIELDS = [
  'referrer',
  ...CAMPAIGN_FIELDS,
  'device',
  'browser',
  'os',
  'region',
  'city',
] as const

function requireStartBeforeEnd({ start, end }: { start?: number; end?: number }, context: z.RefinementCtx) {
  if (start === undefined || end === undefined || start < end) return
  context.addIssue({ code: 'custom', path: ['start'], message: 'must be before end' })
}

export const SubmissionListQuery = z
  .strictObject({
    limit: numberParameter(1, 100).optional(),
    cursor: parameter(1000).optional(),
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
export type SubmissionListQueryInput = z.infer<typeof SubmissionListQuery>

export const AllSubmissionsQuery = z
  .strictObject({
    limit: numberParameter(1, 100).optional(),
    cursor: parameter(1000).optional(),
    formKey: parameter(64).optional().openapi({ description: 'Only submissions of this form' }),
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
export type AllSubmissionsQueryInput = z.infer<typeof AllSubmissionsQuery>
export type SubmissionSelection = Omit<SubmissionListQueryInput, 'limit' | 'cursor'>

export const SubmissionExportQuery = z
  .strictObject({
    format: oneOf(SUBMISSION_EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)

export const EraseQuery = z.strictObject({
  email: z
    .string({
      error: ({ input }) => (input === undefined ? 'is required' : 'must be given once'),
    })
    .refine(isEmail, 'must be an e-mail address')
    .openapi({
      format: 'email',
      maxLength: EMAIL_MAX,
      example: 'ada@example.com',
      description: 'Without regard to case',
    }),
})

export const ErasureShape = z
  .strictObject({
    email: z.string(),
    erased: z.int().min(0).openapi({ description: 'Number of deleted submissions' }),
  })
  .openapi('Erased')
export type ErasureResource = z.infer<typeof ErasureShape>

export const UpdateSubmission = z
  .strictObject(
    {
      status: oneOf(SUBMISSION_STATUSES).nullable().optional().openapi({ description: 'null is new' }),
      notes: text(1, 10_000).nullable().optional(),
    },
    mustBeObject,
  )
  .openapi('UpdateSubmission')
export type UpdateSubmissionInput = z.infer<typeof UpdateSubmission>
