// The QR code of a link, and of a link that is not there yet, as requests.

import { z } from '@hono/zod-openapi'
import { numberParameter, oneOf, text, wholeNumber } from '../../../lib/api-fields.ts'
import { LOGO_TEXT_MAX, readPngDataUrl } from '../../accounts/brand/png-data-url.ts'
import { slug as linkSlug } from '../schema.ts'

/** The looks of the dots and of the three large corners. */
export const QR_STYLES = ['square', 'rounded', 'dots'] as const
export type QrStyle = (typeof QR_STYLES)[number]

const qrLook = {
  format: oneOf(['svg', 'png']).optional(),
  color: color('dark modules', '1a2b3c').optional(),
  background: color('light modules', 'fff8e7').optional(),
  dots: oneOf(QR_STYLES).optional().openapi({ description: 'Shape of the modules; square when absent' }),
  corners: oneOf(QR_STYLES)
    .optional()
    .openapi({ description: 'Shape of the three large corners; square when absent' }),
}
const QR_SIZES = [64, 2048] as const
const QR_MARGINS = [0, 16] as const
const QR_SIZE = { description: 'Width in pixels; 512 when absent' }
const QR_MARGIN = { description: 'Quiet zone in modules; scanners need 4, which it has when absent' }

export const QrQuery = z.strictObject({
  ...qrLook,
  size: numberParameter(...QR_SIZES)
    .optional()
    .openapi(QR_SIZE),
  margin: numberParameter(...QR_MARGINS)
    .optional()
    .openapi(QR_MARGIN),
  logo: oneOf(['none', 'brand'])
    .optional()
    .openapi({ description: 'brand: the logo of the workspace in the middle. none when absent' }),
})
export type QrOptions = Omit<z.infer<typeof QrQuery>, 'logo'>

/** `brand`, or a picture as a data URL. */
const drawnLogo = text(1, LOGO_TEXT_MAX).transform((value, context) => {
  if (value === 'brand') return value
  const png = readPngDataUrl(value)
  if (Buffer.isBuffer(png)) return png
  context.addIssue({ code: 'custom', message: png.wrong })
  return z.NEVER
})

export const DrawQr = z
  .strictObject({
    slug: linkSlug,
    domain: text(1, 255).nullable().optional().openapi({
      description: 'Where a new link would be, when absent or null',
    }),
    ...qrLook,
    size: wholeNumber(...QR_SIZES)
      .optional()
      .openapi(QR_SIZE),
    margin: wholeNumber(...QR_MARGINS)
      .optional()
      .openapi(QR_MARGIN),
    logo: drawnLogo
      .nullable()
      .optional()
      .openapi({
        type: ['string', 'null'],
        example: 'brand',
        description:
          'Shown in the middle: `brand` is the logo of the workspace, or a PNG of at most 64 KiB as a data URL',
      }),
  })
  .openapi('DrawQr')

function color(what: string, example: string) {
  return z
    .string({ error: 'must be given once' })
    .regex(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'must be a color such as 1a2b3c')
    .openapi({ description: `Color of the ${what}, hexadecimal`, example })
}
