// The shapes of submissions in the API: stored fields, filters, and changes.

import { z } from '@hono/zod-openapi'
import {
  dateRangeEnd,
  idList,
  must,
  numberParameter,
  oneOf,
  PAGE_PARAMETERS,
  parameter,
  requireFormat,
  requireStartBeforeEnd,
  text,
  wholeNumber,
} from '../../../lib/api-fields.ts'
import { isTimeZone } from '../../../lib/date-range.ts'
import { EMAIL_MAX } from '../../../lib/email.ts'
import { LEAD_STAGES, OUTCOME_STAGES } from '../../../lib/outcome-stage.ts'
import { AD_CLICK_ID_NAMES } from '../../visitors/ad-click-ids.ts'
import { ConsentShape } from '../consent/schema.ts'
import { FileShape } from '../uploads/schema.ts'

/** `unconfirmed`: waits for the sender's double opt-in. */
export const SUBMISSION_STATUSES = ['new', 'read', 'archived', 'spam', 'unconfirmed'] as const
/** The statuses that a person gives. */
export const SET_STATUSES = ['new', 'read', 'archived', 'spam'] as const
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number]
/** The column never holds `pending`: a submission is pending while its `attribution_due` is 1. */
export const ATTRIBUTIONS = ['measured', 'inferred', 'pending', 'none'] as const
export const SUBMISSION_EXPORT_FORMATS = ['csv', 'json', 'ndjson', 'xlsx'] as const
export type SubmissionExportFormat = (typeof SUBMISSION_EXPORT_FORMATS)[number]

/** The text fields about where a submission came from, in the order of the export's columns. */
export const SOURCE_FIELDS = ['referrer', 'pageUrl', 'landingUrl'] as const
export const CAMPAIGN_FIELDS = ['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'] as const
export const VISITOR_FIELDS = ['device', 'browser', 'os', 'country', 'region', 'city'] as const

const ID_MAX = 999_999_999_999_999

/** A list with every status once has 34 characters; this leaves room for repetitions. */
const STATUSES_MAX = 60

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
    files: z.array(FileShape),
    status: z.enum(SUBMISSION_STATUSES),
    test: z
      .boolean()
      .openapi({ description: 'Sent by "Try it" of the dashboard: it is not announced and not counted' }),
    spamReasons: z
      .array(z.string())
      .openapi({ description: 'Why it was stored as spam; empty where it was not' }),
    consent: ConsentShape.nullable().openapi({ description: "The sender's consent" }),
    notes: z.string().nullable(),
    assigneeId: z.int().nullable().openapi({ description: 'The member of the workspace who has it' }),
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
      .openapi({ description: 'The names of the link, also of a deleted one; null when no link is known' }),
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
    adClickIds: z
      .partialRecord(z.enum(AD_CLICK_ID_NAMES), z.string())
      .optional()
      .openapi({ description: 'Of the ad that brought the sender; only where the form keeps them' }),
    outcomes: z
      .array(
        z.strictObject({
          stage: z.enum(OUTCOME_STAGES),
          value: z.string().nullable(),
          currency: z.string().nullable(),
          at: z.iso.datetime(),
        }),
      )
      .openapi({ description: 'The outcomes of the lead, oldest first' }),
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

// The filter allows as many characters as the column can hold.
const exactText = (max: number) => parameter(max).optional()

const isStatus = (text: string) => (SUBMISSION_STATUSES as readonly string[]).includes(text)
const STATUS_MESSAGE = `must be one of ${SUBMISSION_STATUSES.join(', ')}`

/** A list such as `new,read`: a submission with any of these statuses passes. */
const statuses = z
  .string({ error: 'must be given once: separate several by commas' })
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

const ASSIGNEE_MESSAGE = 'must be the id of a member, or none'

/** `none`: unassigned submissions. */
const assignee = z
  .string({ error: ASSIGNEE_MESSAGE })
  .regex(/^(none|[1-9]\d{0,14})$/, ASSIGNEE_MESSAGE)
  .transform((value) => (value === 'none' ? value : Number(value)))
  .optional()
  .openapi({
    type: 'string',
    maxLength: 15,
    pattern: '^(none|[1-9]\\d{0,14})$',
    description: 'Submissions assigned to this member; none: unassigned ones',
    example: '1',
  })

/** The filters that choose submissions. Lists and the export have the same. */
const SELECTION = {
  start: dateRangeEnd('start', 'An instant, or a date (its first moment, UTC)'),
  end: dateRangeEnd('end', 'An instant (exclusive), or a date (the whole day counts, UTC)'),
  search: parameter(200)
    .optional()
    .openapi({ description: 'Part of any value that was sent, without regard to case or marks' }),
  status: statuses,
  email: exactText(EMAIL_MAX).openapi({ description: 'Without regard to case' }),
  test: oneOf(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .openapi({ description: 'Only tests, or no tests. Exports leave tests out when it is absent' }),
  attribution: oneOf(ATTRIBUTIONS).optional(),
  stage: oneOf(OUTCOME_STAGES).optional().openapi({ description: 'Leads with such an outcome' }),
  latestStage: oneOf(LEAD_STAGES)
    .optional()
    .openapi({ description: 'The stage of the latest outcome; new: without an outcome' }),
  assigneeId: assignee,
  linkId: numberParameter(1, ID_MAX).optional(),
  referrer: exactText(255).openapi({ description: 'Host of the page the visitor came from' }),
  utmSource: exactText(256),
  utmMedium: exactText(256),
  utmCampaign: exactText(256),
  utmTerm: exactText(256),
  utmContent: exactText(256),
  device: exactText(255),
  browser: exactText(255),
  os: exactText(255),
  country: exactText(255).openapi({
    description: 'Two letters, without regard to case; UK is GB',
    example: 'DE',
  }),
  region: exactText(255),
  city: exactText(255),
}

export const SubmissionListQuery = z
  .strictObject({
    ...PAGE_PARAMETERS,
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
export type SubmissionListQueryInput = z.infer<typeof SubmissionListQuery>

export const AllSubmissionsQuery = z
  .strictObject({
    ...PAGE_PARAMETERS,
    formKey: parameter(64).optional().openapi({ description: 'Only submissions of this form' }),
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
export type AllSubmissionsQueryInput = z.infer<typeof AllSubmissionsQuery>
export type SubmissionSelection = Omit<SubmissionListQueryInput, 'limit' | 'cursor'>

const DELIMITERS = { ',': ',', ';': ';', '\t': '\t', comma: ',', semicolon: ';', tab: '\t' } as const

export const SubmissionExportQuery = z
  .strictObject({
    format: oneOf(SUBMISSION_EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
    bom: oneOf(['true', 'false'])
      .transform((value) => value === 'true')
      .optional()
      .openapi({
        description: 'A byte order mark, which Excel needs for letters beyond ASCII in a CSV file',
      }),
    delimiter: oneOf(Object.keys(DELIMITERS) as [keyof typeof DELIMITERS])
      .transform((name) => DELIMITERS[name])
      .optional()
      .openapi({ description: 'Of a CSV file: a comma when absent. Excel reads the one of its country' }),
    timezone: parameter(64)
      .refine(isTimeZone, 'must be an IANA time zone, for example Europe/Berlin')
      .optional()
      .openapi({
        description: 'CSV and XLSX: times are local to it, as `2026-03-29 14:05:00`',
        example: 'Europe/Berlin',
      }),
    ...SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
  .superRefine(({ format = 'csv', bom, delimiter, timezone }, context) => {
    requireFormat(context, format, ['csv'], { bom, delimiter })
    requireFormat(context, format, ['csv', 'xlsx'], { timezone })
  })

export type SubmissionExportOptions = Pick<
  z.infer<typeof SubmissionExportQuery>,
  'bom' | 'delimiter' | 'timezone'
>

export const assigneeInput = wholeNumber(1, ID_MAX)
  .nullable()
  .optional()
  .openapi({ description: 'A member of the workspace; null: unassigned' })

export const UpdateSubmission = z
  .strictObject({
    status: oneOf(SET_STATUSES).nullable().optional().openapi({ description: 'null is new' }),
    notes: text(1, 10_000).nullable().optional(),
    assigneeId: assigneeInput,
  })
  .openapi('UpdateSubmission')
export type UpdateSubmissionInput = z.infer<typeof UpdateSubmission>

const BULK_MAX = 100

export const UpdateSubmissions = z
  .strictObject({
    ids: z
      .array(wholeNumber(1), { error: must('must be a list of submission ids') })
      .min(1, 'must have at least one id')
      .max(BULK_MAX, `must be at most ${BULK_MAX} ids`),
    status: oneOf(SET_STATUSES)
      .nullable()
      .optional()
      .openapi({ description: 'null is new', example: 'archived' }),
    assigneeId: assigneeInput,
  })
  .refine(({ status, assigneeId }) => status !== undefined || assigneeId !== undefined, {
    path: ['status'],
    message: `must be one of ${SET_STATUSES.join(', ')}, unless assigneeId is given`,
  })
  .openapi('UpdateSubmissions', { anyOf: [{ required: ['status'] }, { required: ['assigneeId'] }] })
export type UpdateSubmissionsInput = z.infer<typeof UpdateSubmissions>

export const SubmissionIds = z.strictObject({ ids: idList(BULK_MAX) })

/** The answer of a bulk request has no fields, because a submission can have a megabyte of them. */
export const SubmissionStateShape = z
  .strictObject({ id: z.int(), status: z.enum(SUBMISSION_STATUSES) })
  .openapi('SubmissionState')
export type SubmissionState = z.infer<typeof SubmissionStateShape>
