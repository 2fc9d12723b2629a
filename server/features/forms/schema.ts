// The shapes of forms in the API. They validate requests, and the API reference is generated from them.

import { z } from '@hono/zod-openapi'
import {
  flag,
  oneOf,
  originPattern,
  PAGE_PARAMETERS,
  readAs,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { checkUrl } from '../../lib/web-url.ts'
import { BrandInput, BrandShape } from '../accounts/brand/schema.ts'
import { ConsentSettingsShape, toConsentSettingsInput } from './consent/schema.ts'
import { FieldLabelsShape, toFieldLabelsInput } from './labels/schema.ts'
import { ReplySettingsInput, ReplySettingsShape } from './replies/schema.ts'
import { FieldMessagesInput, FieldMessagesShape, FieldRulesShape, toFieldRulesInput } from './rules/schema.ts'
import { CAPTCHA_FIELD, hasControlPrefix } from './settings/control-fields.ts'
import { DEFAULT_PER_ADDRESS, DEFAULT_RETURN_MODE, RETURN_MODES } from './settings/form-defaults.ts'
import { FORM_KEY } from './settings/form-key.ts'
import { NEXT_HOST_MAX, normalizeNextHost } from './settings/next-hosts.ts'
import { SpamSettingsInput, SpamSettingsShape } from './spam/schema.ts'
import { ReplyTemplatesInput, ReplyTemplatesShape } from './team-replies/schema.ts'
import { UploadSettingsInput, UploadSettingsShape } from './uploads/schema.ts'

const ADDRESS_MAX = 2048
const LIST_MAX = 100
const NEXT_HOSTS_MAX = 50
/** Submissions a minute from one address. */
const PER_ADDRESS_MAX = 600
/** Days. */
const RETENTION_MAX = 3650
/** The endpoint has the same limit for the name of a field. */
const FIELD_NAME_MAX = 256

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
    perAddress: z.int().openapi({ description: 'Submissions a minute from one address' }),
    nextHosts: z.array(z.string()).openapi({ description: 'Empty: `_next` may lead to any host' }),
    channelIds: z.array(z.int()),
    uploads: UploadSettingsShape.nullable().openapi({ description: 'null: the form takes no files' }),
    reply: ReplySettingsShape.nullable().openapi({ description: 'The answer to the sender by email' }),
    spam: SpamSettingsShape,
    spamRetentionDays: z.int(),
    rules: FieldRulesShape,
    messages: FieldMessagesShape,
    retentionDays: z.int().nullable().openapi({ description: 'null: submissions are kept' }),
    consent: ConsentSettingsShape.nullable(),
    brand: BrandShape.openapi({ description: 'Where it differs from the brand of the workspace' }),
    adClickIds: z.boolean(),
    fieldLabels: FieldLabelsShape.openapi({
      description: 'Labels that people read instead of field names',
    }),
    replyTemplates: ReplyTemplatesShape.openapi({ description: 'For replies of the team to senders' }),
    submissions: z.int().openapi({ description: 'Number of stored submissions' }),
    lastSubmissionAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Form')
export type FormResource = z.infer<typeof FormShape>

const formName = text(1, 200)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

/** The name of a field that is stored. */
const fieldName = text(1, FIELD_NAME_MAX)
  .refine((name) => !hasControlPrefix(name), 'must not start with "_": such fields are never stored')
  .refine((name) => name !== CAPTCHA_FIELD, "is the captcha's own field; set captcha to true instead")

/** The address of a page of a site. */
export const pageAddress = () =>
  text(1, ADDRESS_MAX)
    .transform((value, context) => {
      const checked = checkUrl(value, { schemes: [] })
      if ('href' in checked && checked.href.length <= ADDRESS_MAX) return checked.href
      const message = 'wrong' in checked ? checked.wrong : `must be at most ${ADDRESS_MAX} characters`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'uri', minLength: 1, maxLength: ADDRESS_MAX })

const pageSetting = (description: string, example: string) =>
  pageAddress()
    .nullable()
    .optional()
    .openapi({ type: ['string', 'null'], description, example })

const retentionDays = (description: string) =>
  wholeNumber(1, RETENTION_MAX).nullable().optional().openapi({ description })

const returnMode = (description: string) =>
  oneOf(RETURN_MODES)
    .nullable()
    .optional()
    .openapi({ description: `${description} ${DEFAULT_RETURN_MODE} when absent` })

const nextHost = text(1, NEXT_HOST_MAX)
  .transform(readAs(normalizeNextHost, 'must be a host such as example.com or example.com:8443'))
  .openapi({ type: 'string', minLength: 1, maxLength: NEXT_HOST_MAX, example: 'example.com' })

/** The settings of a form, all optional. `null` sets the value of a new form. */
const fields = {
  enabled: flag().nullable().optional().openapi({ description: 'true when absent' }),
  requiredFields: z
    .array(fieldName, { error: 'must be a list of field names' })
    .max(LIST_MAX, `must be at most ${LIST_MAX} names`)
    .refine((names) => new Set(names).size === names.length, 'must name each field once')
    .nullable()
    .optional()
    .openapi({ example: ['email'] }),
  redirectUrl: pageSetting(
    "The browser's destination after a submission without the snippet. Overrides `afterSubmit`",
    'https://example.com/thanks',
  ),
  pageUrl: pageSetting(
    'The page with the form. Replaces a Referer that is only the origin of the same site',
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
    .array(originPattern(), { error: 'must be a list of origins' })
    .max(LIST_MAX, `must be at most ${LIST_MAX} origins`)
    .nullable()
    .optional()
    .openapi({
      description: 'Pages that may post; any when empty. Scheme, host and port, or any host below one',
    }),
  perAddress: wholeNumber(1, PER_ADDRESS_MAX)
    .nullable()
    .optional()
    .openapi({
      description: `Submissions in any minute from one address, such as an office's. ${DEFAULT_PER_ADDRESS} when absent`,
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
  uploads: UploadSettingsInput.nullable().optional(),
  reply: ReplySettingsInput.nullable().optional(),
  spam: SpamSettingsInput.nullable().optional(),
  spamRetentionDays: retentionDays('Days until spam is erased. 30 when absent'),
  rules: toFieldRulesInput(fieldName).nullable().optional(),
  messages: FieldMessagesInput.nullable().optional(),
  retentionDays: retentionDays('Days until submissions are erased. They are kept when absent'),
  consent: toConsentSettingsInput(fieldName).nullable().optional(),
  brand: BrandInput.nullable().optional(),
  adClickIds: flag()
    .nullable()
    .optional()
    .openapi({
      description:
        'Keep the click ids of ad networks (`gclid`, `gbraid`, `wbraid`, `msclkid`, `fbclid`) that the page of the ' +
        'credited click had. false when absent',
    }),
  fieldLabels: toFieldLabelsInput(fieldName).nullable().optional(),
  replyTemplates: ReplyTemplatesInput.nullable().optional(),
}

export const CreateForm = z.strictObject({ name: formName, ...fields }).openapi('CreateForm')
export const UpdateForm = z.strictObject({ name: formName.optional(), ...fields }).openapi('UpdateForm')
export type CreateFormInput = z.infer<typeof CreateForm>
export type UpdateFormInput = z.infer<typeof UpdateForm>

export const FormListQuery = z.strictObject(PAGE_PARAMETERS)
export type FormListQueryInput = z.infer<typeof FormListQuery>

export const FormKeyParameter = z.object({
  formKey: z.string().openapi({
    param: { name: 'formKey', in: 'path' },
    type: 'string',
    pattern: FORM_KEY.source,
    example: 'k7m2xw9qpd',
  }),
})
