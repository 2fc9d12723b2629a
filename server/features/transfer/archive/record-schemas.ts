// Schemas of the records in each file. Anybody can write a zip with a valid manifest, so each record is checked
// before it is stored. Names, URLs and slugs are checked later, by the API's own rules.

import { z } from 'zod'
import { BODY_MAX } from '../../../http/json-body.ts'
import { EMAIL_MAX, isEmail } from '../../../lib/email.ts'
import { AMOUNT_PATTERN, findAmountProblem } from '../../../lib/money/amount.ts'
import { isCurrency } from '../../../lib/money/currencies.ts'
import { OUTCOME_STAGES } from '../../../lib/outcome-stage.ts'
import { countCharacters, isCleanText } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { FILE_KEY } from '../../../storage/files/file-key.ts'
import { ATTEMPT_OUTCOMES } from '../../forms/attempts/attempt-counter.ts'
import { SUBMISSION_STATUSES } from '../../forms/submissions/schema.ts'
import { REPLIES_PER_SUBMISSION_MAX, REPLY_STATUSES } from '../../forms/team-replies/schema.ts'
import { UPLOAD_FILES_MAX } from '../../forms/uploads/schema.ts'
import { CHANNEL_TYPES, CHANNEL_URL_MAX } from '../../notify/channels/channel-types.ts'
import { RECIPIENTS_MAX } from '../../notify/schema.ts'
import { EXTERNAL_ID_MAX, PER_LEAD_MAX } from '../../outcomes/schema.ts'
import { TOUCH_KINDS } from '../../tracking/touch.ts'
import { AD_CLICK_ID_NAMES, AD_CLICK_ID_VALUE } from '../../visitors/ad-click-ids.ts'
import { archiveDay, archiveMoment, archiveTime } from './archive-time.ts'

const TEXT_MAX = 10_000
const FIELD_MAX = 65_536
const FIELDS_MAX = 256
const FIELD_NAME_MAX = 256

const text = (max = TEXT_MAX) =>
  z
    .string()
    .refine((value) => countCharacters(value) <= max, `must be at most ${max} characters`)
    .refine(isCleanText, 'must not contain NUL or broken Unicode characters')
const orNull = text().nullable()
const id = z.int().min(1)
/** A sum of 8 million such counts still fits into a database's integer. */
const COUNT_MAX = 2 ** 40
const count = z.int().min(0).max(COUNT_MAX)
const time = archiveTime
const visitor = z
  .string()
  .regex(/^\d{1,20}$/)
  .refine((digits) => BigInt(digits) < 2n ** 64n)

const campaign = {
  utmSource: orNull,
  utmMedium: orNull,
  utmCampaign: orNull,
  utmTerm: orNull,
  utmContent: orNull,
}

// Exports of older releases have no ids of tags and views.
const TagRecord = z.object({
  id: id.optional(),
  name: text(),
  color: text(),
  pinned: z.boolean().optional(),
  createdAt: time,
})

const UtmTemplateRecord = z.object({ id, name: text(), ...campaign, createdAt: time, updatedAt: time })

const DomainRecord = z.object({
  domain: text(300),
  primary: z.boolean(),
  caseSensitive: z.boolean(),
  rootUrl: orNull,
  notFoundUrl: orNull,
  expiredUrl: orNull,
  assetLinks: z.unknown().optional(),
  appleAppSiteAssociation: z.unknown().optional(),
  createdAt: time,
})

const ChannelRecord = z.object({
  id,
  type: z.enum(CHANNEL_TYPES),
  name: text(),
  to: z.array(z.string().refine(isEmail, 'must be email addresses')).max(RECIPIENTS_MAX),
  // Only shown: it came without its secret.
  url: text(CHANNEL_URL_MAX)
    .refine((url) => /^https?:$/.test(parseUrl(url)?.protocol ?? ''), 'must be a web address')
    .nullable(),
  chatId: text(100).nullable(),
  enabled: z.boolean(),
  createdAt: time,
  updatedAt: time,
})

const FormRecord = z.object({
  formKey: text(100),
  name: text(),
  enabled: z.boolean(),
  requiredFields: z.array(text()),
  redirectUrl: orNull,
  pageUrl: orNull,
  afterSubmit: text(),
  onError: text(),
  captcha: z.boolean(),
  successMessage: orNull,
  allowedOrigins: z.array(text()),
  nextHosts: z.array(text()),
  channelIds: z.array(id),
  // Checked by the rules of the API. Exports of older releases lack them.
  uploads: z.unknown().optional(),
  reply: z.unknown().optional(),
  spam: z.unknown().optional(),
  perAddress: z.int().nullable().optional(),
  spamRetentionDays: z.int().nullable().optional(),
  rules: z.unknown().optional(),
  messages: z.unknown().optional(),
  retentionDays: z.int().nullable().optional(),
  consent: z.unknown().optional(),
  brand: z.unknown().optional(),
  adClickIds: z.boolean().optional(),
  fieldLabels: z.unknown().optional(),
  replyTemplates: z.unknown().optional(),
  createdAt: time,
  updatedAt: time,
})

/** Fields that the rules of the API check. */
const LinkFields = z.object({
  slug: text(),
  destinationUrl: text(),
  title: orNull,
  comments: orNull,
  externalId: orNull,
  archived: z.boolean(),
  startsAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  expiredUrl: orNull,
  clickLimit: z.int().nullable(),
  leadLimit: z.int().nullable(),
  forwardQuery: z.boolean(),
  trackConversions: z.boolean(),
  geoTargeting: z.record(z.string(), text()),
  deviceTargeting: z.record(z.string(), text()),
  // Archives of older versions have none.
  rules: z.unknown().optional(),
  extraPath: text().optional(),
  publicStats: z.boolean().optional(),
  split: z.unknown().optional(),
  splitEndsAt: z.iso.datetime().nullable().optional(),
  redirectStatus: z.int(),
  previewTitle: orNull,
  previewDescription: orNull,
  previewImage: orNull,
})
export const LINK_FIELDS = LinkFields.keyof().options

const LinkRecord = LinkFields.extend({
  id,
  domain: text(300),
  tags: z.array(text()),
  passwordProtected: z.boolean(),
  // Archives of older versions have none.
  splitStartedAt: time.nullable().optional(),
  splitResult: z.unknown().optional(),
  clicks: count,
  leads: count,
  lastClickedAt: time.nullable(),
  createdAt: time,
  updatedAt: time,
  clicksUsed: count,
  deletedAt: time.nullable(),
  purgedAt: time.nullable(),
})

const AttemptRecord = z.object({
  formKey: text(100),
  day: archiveDay,
  outcome: z.enum(ATTEMPT_OUTCOMES),
  field: text(),
  attempts: count,
})

const TouchRecord = z.object({
  at: time,
  kind: z.enum(TOUCH_KINDS),
  linkId: id.nullable(),
  clickId: orNull,
  referrer: orNull,
  landingUrl: orNull,
  ...campaign,
})

const FileRecord = z.object({
  field: text(FIELD_NAME_MAX),
  name: text(1000),
  bytes: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  path: z.string().regex(FILE_KEY),
})

const OutcomeRecord = z
  .object({
    stage: z.enum(OUTCOME_STAGES),
    value: z.string().regex(AMOUNT_PATTERN).nullable(),
    currency: z.string().refine(isCurrency, 'must be a currency of ISO 4217').nullable(),
    at: time,
    externalId: text(EXTERNAL_ID_MAX).min(1).nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .refine(
    ({ value, currency }) =>
      value === null || (currency !== null && findAmountProblem(value, currency) === undefined),
    { path: ['value'], message: 'must be an amount of its currency' },
  )

const ReplyRecord = z.object({
  author: text(1000).nullable(),
  subject: text(200),
  text: text(20_000),
  status: z.enum(REPLY_STATUSES),
  createdAt: time,
})

const SubmissionRecord = z.object({
  id,
  formKey: text(100),
  fields: z
    .array(z.tuple([text(FIELD_NAME_MAX), text(FIELD_MAX)]))
    .max(FIELDS_MAX)
    .refine(
      (fields) => fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= BODY_MAX,
      'must be at most 1 MiB together',
    ),
  status: z.enum(SUBMISSION_STATUSES),
  // Exports of older releases lack these, and files.
  spamReasons: z.array(text(1000)).max(100).nullable().default(null),
  consent: z
    .object({ field: text(FIELD_NAME_MAX), text: text(), at: archiveMoment })
    .nullable()
    .default(null),
  language: text(100).nullable().default(null),
  announced: z.boolean().default(true),
  announcedAt: time.nullable().default(null),
  test: z.boolean().default(false),
  notes: orNull,
  email: z.string().refine(isEmail, 'must be an email address').nullable(),
  duplicateOf: id.nullable(),
  visitor: visitor.nullable(),
  linkId: id.nullable(),
  clickId: orNull,
  eventId: orNull,
  sessionLinked: z.boolean(),
  attribution: z.enum(['measured', 'inferred', 'none']),
  referrer: orNull,
  pageUrl: orNull,
  landingUrl: orNull,
  ...campaign,
  device: orNull,
  browser: orNull,
  os: orNull,
  country: orNull,
  region: orNull,
  city: orNull,
  adClickIds: z
    .partialRecord(z.enum(AD_CLICK_ID_NAMES), z.string().regex(AD_CLICK_ID_VALUE))
    .nullable()
    .default(null),
  createdAt: time,
  files: z.array(FileRecord).max(UPLOAD_FILES_MAX).default([]),
  touches: z.array(TouchRecord).max(1000),
  outcomes: z.array(OutcomeRecord).max(PER_LEAD_MAX).default([]),
  replies: z.array(ReplyRecord).max(REPLIES_PER_SUBMISSION_MAX).default([]),
  assignee: text(EMAIL_MAX).nullable().default(null),
})

const MissRecord = z.object({
  domain: text(300),
  hour: time,
  slug: text(2000),
  hits: count,
  visitors: count,
  bots: count,
  lastAt: time,
})

const ViewRecord = z.object({
  id: id.optional(),
  name: text(),
  filters: z.record(z.string(), text()),
  interval: orNull,
  start: orNull,
  end: orNull,
  timezone: text(),
  model: text(),
  embed: z.array(text()),
  createdAt: time,
  updatedAt: time,
})

const SettingsRecord = z.object({
  keptParams: z.array(text()),
  internalNetworks: z.array(text()),
  ignoredReferrers: z.array(text()),
  watchDestinations: z.boolean(),
})

/** By the name of the file. Hits are not included, because they never become rows. */
export const RECORD_SCHEMAS = {
  'tags.ndjson': TagRecord,
  'domains.ndjson': DomainRecord,
  'channels.ndjson': ChannelRecord,
  'forms.ndjson': FormRecord,
  'links.ndjson': LinkRecord,
  'attempts.ndjson': AttemptRecord,
  'submissions.ndjson': SubmissionRecord,
  'misses.ndjson': MissRecord,
  'views.ndjson': ViewRecord,
  'settings.ndjson': SettingsRecord,
  'utm-templates.ndjson': UtmTemplateRecord,
} as const

export type RecordFileName = keyof typeof RECORD_SCHEMAS
export const RECORD_FILES = Object.keys(RECORD_SCHEMAS) as RecordFileName[]
export type ArchiveRecord<Name extends RecordFileName> = z.infer<(typeof RECORD_SCHEMAS)[Name]>
