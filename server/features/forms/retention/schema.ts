// The shapes of a form's consent field and of its retention (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { text, wholeNumber } from '../../../lib/api-fields.ts'

const DAYS_MAX = 3650

export const retentionDays = (description: string) =>
  wholeNumber(1, DAYS_MAX).nullable().optional().openapi({ description })

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
