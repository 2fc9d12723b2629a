// Renders the QR code of a link. The code contains `?qr=1`, so that the analytics can tell scans from clicks.

import QRCode from 'qrcode'
import { invalid } from '../../lib/failure.ts'
import type { QrQueryInput } from './schema.ts'

const SIZE = 512
// ISO/IEC 18004 requires a quiet zone of four modules.
const MARGIN = 4
// The largest QR code holds this many bytes at error correction level M. Only percent-encoded slugs of rare scripts are
// longer; level L holds them.
const LEVEL_M_BYTES = 2331

/** @throws Failure `invalid` when a PNG of the requested size has less than one pixel for each module */
export async function renderQrCode(
  shortUrl: string,
  query: QrQueryInput,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const { size = SIZE, margin = MARGIN } = query
  const text = `${shortUrl}?qr=1`
  const options = {
    width: size,
    margin,
    errorCorrectionLevel: text.length > LEVEL_M_BYTES ? ('L' as const) : ('M' as const),
    color: { dark: toHexColor(query.color ?? '000000'), light: toHexColor(query.background ?? 'ffffff') },
  }
  if (query.format !== 'png') {
    return { type: 'image/svg+xml', body: await QRCode.toString(text, { ...options, type: 'svg' }) }
  }
  const sizeMin = QRCode.create(text, options).modules.size + 2 * margin
  if (size < sizeMin) throw invalid({ size: `must be at least ${sizeMin} for this link and margin` })
  // The library rounds down after a floating point error: without the 0.01, a size of 512 gives 511 pixels.
  const png = await QRCode.toBuffer(text, { ...options, width: size + 0.01 })
  return { type: 'image/png', body: new Uint8Array(png) }
}

const toHexColor = (color: string) => `#${color.replace('#', '')}`
