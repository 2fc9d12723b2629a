// Renders the QR code of a link. The code contains `?qr=1`, so that the analytics can tell scans from clicks.

import QRCode from 'qrcode'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { invalid } from '../../../lib/failure.ts'
import { drawQrPng } from './draw-qr-png.ts'
import { drawQrSvg } from './draw-qr-svg.ts'
import { createQrShapes } from './qr-shapes.ts'
import { readLogo } from './read-logo.ts'
import type { QrOptions } from './schema.ts'

const SIZE = 512
// ISO/IEC 18004 requires a quiet zone of four modules.
const MARGIN = 4
// The largest QR code holds this many bytes at error correction level M. Only percent-encoded slugs of rare scripts are
// longer; level L holds them.
const LEVEL_M_BYTES = 2331
/** The same for level H, which restores the modules behind a logo. */
const LEVEL_H_BYTES = 1273
// For the smallest code, the library splits a text into parts of digits, letters and bytes: 15 ms for 1,700 characters.
// A longer text than this is one part of bytes. Only long slugs of rare scripts exceed it.
const SPLIT_CHARACTERS = 600

/** The minimum contrast of a graphic (https://www.w3.org/TR/WCAG22/#non-text-contrast). */
const CONTRAST_MIN = 3
/** Round dots and corners blur at their edges: they need the contrast of text. */
const SHAPED_CONTRAST_MIN = 4.5
/** Scanners take an even gray for paper: a code in light on dark needs a background that is nearly black. */
const INVERTED_CONTRAST_MIN = 12

/** Cameras need this many pixels for each module where its corners are round or a logo hides some. */
const SHAPED_PIXELS = 5

/**
 * @param logoPng a cleaned PNG for the middle
 * @throws Failure `invalid` for a code that no phone reads, and when a PNG of the requested size has too few pixels for
 * each module
 */
export async function renderQrCode(
  shortUrl: string,
  options: QrOptions,
  logoPng?: Buffer,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const { size: width = SIZE, margin = MARGIN, dots = 'square', corners = 'square' } = options
  const text = `${shortUrl}?qr=1`
  const [dark, light] = [toHexColor(options.color ?? '000000'), toHexColor(options.background ?? 'ffffff')]
  const isShaped = logoPng !== undefined || dots !== 'square' || corners !== 'square'
  requireReadable(options, { dark, light, margin, isShaped })
  if (logoPng && text.length > LEVEL_H_BYTES)
    throw invalid({
      logo: 'must be left out: with a logo, a code has no room for a short link of this length',
    })
  const logo = logoPng && (await readLogo(logoPng))
  const errorCorrectionLevel = logo ? 'H' : text.length > LEVEL_M_BYTES ? 'L' : 'M'
  const content = text.length > SPLIT_CHARACTERS ? [{ data: Buffer.from(text), mode: 'byte' as const }] : text
  const { modules } = QRCode.create(content, { errorCorrectionLevel })
  const sizeMin = (modules.size + 2 * margin) * (isShaped ? SHAPED_PIXELS : 1)
  if (options.format === 'png' && width < sizeMin)
    throw invalid({ size: `must be at least ${sizeMin} for this link and margin` })
  // A large code takes some milliseconds to make, and some more to draw.
  await nextTurn()
  const shapes = createQrShapes(modules, { dots, corners, hasLogo: logo !== undefined })
  const paint = { width, margin, dark, light, logo }
  return options.format === 'png'
    ? { type: 'image/png', body: await drawQrPng(shapes, paint) }
    : { type: 'image/svg+xml', body: drawQrSvg(shapes, paint) }
}

/** @throws Failure `invalid` with the necessary change */
function requireReadable(
  options: QrOptions,
  { dark, light, margin, isShaped }: { dark: string; light: string; margin: number; isShaped: boolean },
): void {
  const [onTop, below] = [toLuminance(dark), toLuminance(light)]
  const contrast = (Math.max(onTop, below) + 0.05) / (Math.min(onTop, below) + 0.05)
  const isInverted = onTop > below
  const contrastMin = isInverted ? INVERTED_CONTRAST_MIN : isShaped ? SHAPED_CONTRAST_MIN : CONTRAST_MIN
  if (contrast < contrastMin) {
    // Rounded down, so that 2.99 is not called 3.
    const measured = `the contrast is ${Math.floor(contrast * 10) / 10}:1, and phones need ${contrastMin}:1`
    const isColorSaid = options.color !== undefined
    const change = isColorSaid === isInverted ? 'lighter' : 'darker'
    throw invalid({ [isColorSaid ? 'color' : 'background']: `must be ${change}: ${measured}` })
  }
  if (isInverted && margin < MARGIN)
    throw invalid({
      margin: `must be at least ${MARGIN} where the code is lighter than its background, or swap color and background`,
    })
}

/** The relative luminance of `rrggbb` (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance). */
function toLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = Buffer.from(color, 'hex')
    .values()
    .map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** @returns `rrggbb` of `#rgb`, `rgb`, `#rrggbb` or `rrggbb` */
function toHexColor(color: string): string {
  const hex = color.replace('#', '')
  return hex.length === 3 ? hex.replace(/./g, '$&$&') : hex
}
