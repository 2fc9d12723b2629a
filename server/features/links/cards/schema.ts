// The card of a destination and its image as callers see them. Why a part is missing is a finding, not a failure of the
// request.

import { z } from '@hono/zod-openapi'

const findings = z
  .array(
    z.strictObject({
      code: z.string().openapi({ description: 'One code for each reason', example: 'no_image' }),
      message: z.string(),
    }),
  )
  .openapi({ description: 'Why a part, or all of it, is not there' })

export const DestinationCardShape = z
  .strictObject({
    url: z.string().nullable().openapi({ description: 'The page that was read; null when none was' }),
    title: z.string().nullable().openapi({ description: 'At most 120 characters, as `previewTitle`' }),
    description: z.string().nullable().openapi({ description: 'At most 240 characters' }),
    image: z.string().nullable().openapi({ description: 'An https URL' }),
    siteName: z.string().nullable(),
    findings,
  })
  .openapi('DestinationCard')
export type DestinationCardResource = z.infer<typeof DestinationCardShape>

export const CardImageShape = z
  .strictObject({
    dataUrl: z
      .string()
      .nullable()
      .openapi({ description: 'A `data:` URL of a PNG, JPEG, GIF or WebP image of at most 5 MB' }),
    findings,
  })
  .openapi('CardImage')
export type CardImageResource = z.infer<typeof CardImageShape>
