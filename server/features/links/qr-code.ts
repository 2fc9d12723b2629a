// A link's QR code. It holds `toShortUrl?qr=1`, so that analytics can tell scans from clicks.

import QRCode from 'qrcode'
import { invalid } from '../../lib/failure.ts'
import type { QrQueryInput } from './schema.ts'

const SIZE = 512
// ISO/IEC 18004 asks for a quiet zone of four modules.
const MARGIN = 4
// What the largest QR code holds at level M. Only slugs of rare scripts are longer once they are percent-encoded, and
// level L holds those.
const LEVEL_M_MAX = 2331

/** @throws Failure `invalid` when a PNG of that size has less than a pixel for each module */
export async function renderQrCode(
  shortUrl: string,
  query: QrQueryInput,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const { size = SIZE, margin = MARGIN } = query
  const text = `${shortUrl}?qr=1`
  const options = {
    width: size,
    margin,
    errorCorrectionLevel: text.length > LEVEL_M_MAX ? ('L' as const) : ('M' as const),
    color: { dark: toHexColor(query.color ?? '000000'), light: toHexColor(query.background ?? 'ffffff') },
  }
  if (query.format !== 'png') {
    return { type: 'image/svg+xml', body: await QRCode.toString(text, { ...options, type: 'svg' }) }
  }
  const least = QRCode.create(text, options).modules.size + 2 * margin
  if (size < least) throw invalid({ size: `must be at least ${least} for this link and margin` })
  // The library rounds down what floating point has already made a little less: 511 for 512.
  const png = await QRCode.toBuffer(text, { ...options, width: size + 0.01 })
  return { type: 'image/png', body: new Uint8Array(png) }
}

const toHexColor = (color: string) => `#${color.replace('#', '')}`
