// The shape of a form's reply to the sender, and of double opt-in (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { flag, text } from '../../../lib/api-fields.ts'

const notBlank = (value: string) => value.trim() !== ''

export const ReplySettingsInput = z
  .strictObject({
    subject: text(1, 200)
      .refine(notBlank, 'must not be blank')
      .refine((value) => !/[\r\n]/.test(value), 'must be one line'),
    text: text(1, 10_000).refine(notBlank, 'must not be blank').openapi({
      description: 'Plain text. `{{field}}` becomes what was sent, cut at 100 characters, without links',
    }),
    confirm: flag().nullable().optional().openapi({
      description: 'Double opt-in: a submission counts once the sender presses the button; false when absent',
    }),
  })
  .transform(({ confirm, ...reply }) => ({ ...reply, confirm: confirm ?? false }))
  .openapi('ReplySettingsInput')

export const ReplySettingsShape = z
  .strictObject({ subject: z.string(), text: z.string(), confirm: z.boolean() })
  .openapi('ReplySettings')
export type ReplySettings = z.infer<typeof ReplySettingsShape>
