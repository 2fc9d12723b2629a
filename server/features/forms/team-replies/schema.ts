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
export type ReplyTemplate = z.infer<typeof ReplyTemplatesShape>[number]
