// The shapes of replies that the team writes to senders, and of a form's templates for them.

import { z } from '@hono/zod-openapi'
import { text } from '../../../lib/api-fields.ts'

const SUBJECT_MAX = 200
const TEXT_MAX = 20_000
const NAME_MAX = 100
const TEMPLATES_MAX = 50

const isNotBlank = (value: string) => value.trim() !== ''

/** A line break in it would begin another header. */
const subject = text(1, SUBJECT_MAX)
  .refine(isNotBlank, 'must not be blank')
  .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), 'must be one line')

const body = text(1, TEXT_MAX).refine(isNotBlank, 'must not be blank')

const TemplateShape = z.strictObject({
  name: text(1, NAME_MAX).refine(isNotBlank, 'must not be blank'),
  subject,
  text: body.openapi({ description: 'Plain text. The dashboard fills `{{field}}` before the reply is sent' }),
})

export const ReplyTemplatesInput = z
  .array(TemplateShape, { error: 'must be a list of templates' })
  .max(TEMPLATES_MAX, `must be at most ${TEMPLATES_MAX} templates`)
  .refine(
    (templates) => new Set(templates.map(({ name }) => name)).size === templates.length,
    'must have each name once',
  )
  .openapi('ReplyTemplates', {
    example: [{ name: 'Thanks', subject: 'Your message', text: 'Hi {{name}},\n\nthanks for your message.' }],
  })
export const ReplyTemplatesShape = z.array(
  z.strictObject({ name: z.string(), subject: z.string(), text: z.string() }),
)

export const REPLY_STATUSES = ['waiting', 'delivered', 'failed', 'canceled'] as const
/** No conversation has more: further mails go from one mail program to the other. */
export const REPLIES_PER_SUBMISSION_MAX = 100

export const TeamReplyShape = z
  .strictObject({
    id: z.int(),
    submissionId: z.int(),
    author: z.string().nullable().openapi({ description: 'The name of the member; null for an API key' }),
    subject: z.string(),
    text: z.string(),
    status: z.enum(REPLY_STATUSES).openapi({
      description:
        'Of the email. canceled: it was not sent, because its reason was gone when its turn came, such as a sender who had unsubscribed',
    }),
    error: z.string().nullable().openapi({ description: 'Why the last attempt failed' }),
    createdAt: z.iso.datetime(),
  })
  .openapi('TeamReply')
export type TeamReplyResource = z.infer<typeof TeamReplyShape>

/** The address is that of the submission, and no field of the request. */
export const CreateTeamReply = z
  .strictObject({ subject, text: body.openapi({ description: 'Plain text' }) })
  .openapi('CreateTeamReply')
export type CreateTeamReplyInput = z.infer<typeof CreateTeamReply>

export const toReplyStatus = (status: string): TeamReplyResource['status'] =>
  REPLY_STATUSES.find((known) => known === status) ?? 'canceled'
