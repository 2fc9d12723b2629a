// The shapes of a form's consent field, and of what a sender agreed to (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { text } from '../../../lib/api-fields.ts'

export const ConsentSettingsInput = z
  .strictObject({
    field: text(1, 256).openapi({ description: 'The name of the checkbox', example: 'newsletter' }),
    text: text(1, 2000).openapi({
      description: 'What the page says beside it. It is stored with the consent',
    }),
  })
  .openapi('ConsentSettings')
export type ConsentSettings = z.infer<typeof ConsentSettingsInput>

export const ConsentShape = z
  .strictObject({ field: z.string(), text: z.string(), at: z.iso.datetime() })
  .openapi('Consent')
export type ConsentResource = z.infer<typeof ConsentShape>
