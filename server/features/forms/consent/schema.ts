// The shapes of a form's consent field, and of a sender's consent (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { text } from '../../../lib/api-fields.ts'

/** @param fieldName of a field that is stored */
export const toConsentSettingsInput = (fieldName: z.ZodType<string>) =>
  z
    .strictObject({
      field: fieldName.openapi({ description: 'The name of the checkbox', example: 'newsletter' }),
      text: text(1, 2000)
        .refine((value) => value.trim() !== '', 'must not be blank')
        .openapi({ description: 'The text next to it on the page. It is stored with the consent' }),
    })
    .openapi('ConsentSettingsInput')

export const ConsentSettingsShape = z
  .strictObject({ field: z.string(), text: z.string() })
  .openapi('ConsentSettings')
export type ConsentSettings = z.infer<typeof ConsentSettingsShape>

export const ConsentShape = z
  .strictObject({ field: z.string(), text: z.string(), at: z.iso.datetime() })
  .openapi('Consent')
