// The brand of a workspace or of one form as JSON: one schema for both. A form's values override those of its
// workspace.

import { z } from '@hono/zod-openapi'
import { text } from '../../../lib/api-fields.ts'
import { EMAIL_MAX, isEmail } from '../../../lib/email.ts'
import { CONTRAST_MIN, contrastWithWhite, toDarker } from './contrast.ts'
import { LOGO_TEXT_MAX, readPngDataUrl } from './png-data-url.ts'

const LOGO_URL_MAX = 2048
const NAME_MAX = 60
const FOOTER_MAX = 300

const nullable = (description: string) => z.string().nullable().openapi({ description })

export const BrandShape = z
  .strictObject({
    name: nullable('Shown at the top of pages that visitors see'),
    logo: z.url().nullable().openapi({ description: 'The address of the picture, on this server' }),
    color: nullable('`#rrggbb`, for buttons and links'),
    senderName: nullable('The sender of emails to people who submit a form. `name` when null'),
    replyTo: nullable('Where their answers go'),
    footer: nullable('The footer of pages and emails'),
  })
  .openapi('Brand')
export type BrandResource = z.infer<typeof BrandShape>

const isOneLine = (value: string) => !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(value)
const line = (max: number) =>
  text(1, max)
    .trim()
    .refine((value) => value !== '', 'must not be blank')
    .refine(isOneLine, 'must be one line')

const COLOR_MESSAGE = 'must be a color such as #17624a'
const color = z
  .string({ error: COLOR_MESSAGE })
  .regex(/^#[\da-f]{6}$/i, COLOR_MESSAGE)
  .toLowerCase()
  .superRefine((value, context) => {
    if (!/^#[\da-f]{6}$/.test(value)) return
    const contrast = contrastWithWhite(value)
    if (contrast >= CONTRAST_MIN) return
    const found = (Math.floor(contrast * 10) / 10).toFixed(1)
    context.addIssue({
      code: 'custom',
      message: `is too light: white text on it has a contrast of ${found}, and needs ${CONTRAST_MIN}. Try ${toDarker(value)}`,
    })
  })
  .openapi({ pattern: '^#[\\da-fA-F]{6}$', example: '#17624a' })

/** A new picture as a data URL, or the address of the stored one, which keeps it. */
const logo = text(1, LOGO_TEXT_MAX).transform((value, context) => {
  if (/^https?:\/\//.test(value) && value.length <= LOGO_URL_MAX) return { kept: value, png: undefined }
  const png = readPngDataUrl(value)
  if (Buffer.isBuffer(png)) return { kept: undefined, png }
  context.addIssue({ code: 'custom', message: png.wrong })
  return z.NEVER
})

export const BrandInput = z
  .strictObject({
    name: line(NAME_MAX).nullable().optional(),
    logo: logo
      .nullable()
      .optional()
      .openapi({
        type: ['string', 'null'],
        description: 'A PNG of at most 64 KiB as a data URL; the address in an answer keeps the stored one',
      }),
    color: color.nullable().optional(),
    senderName: line(NAME_MAX)
      .refine((value) => !/[@<>"]/.test(value), 'must be a name, without @, < or >')
      .nullable()
      .optional(),
    replyTo: text(1, EMAIL_MAX).trim().refine(isEmail, 'must be an email address').nullable().optional(),
    footer: text(1, FOOTER_MAX)
      .trim()
      .refine((value) => value !== '', 'must not be blank')
      .nullable()
      .optional(),
  })
  .openapi('BrandInput', { description: 'Absent fields stay as they are, and null clears one' })
export type BrandInputValues = z.infer<typeof BrandInput>
