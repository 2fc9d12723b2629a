// Renders the QR code of a link. The code contains `?qr=1`, so that the analytics can tell scans from clicks.

import QRCode from 'qrcode'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { invalid } from '../../../lib/failure.ts'
import type { QrQueryInput } from '../schema.ts'
import { drawQrPng } from './qr-png.ts'

const SIZE = 512
// ISO/IEC 18004 requires a quiet zone of four modules.
const MARGIN = 4
// The largest QR code holds this many bytes at error correction level M. Only percent-encoded slugs of rare scripts are
// longer; level L holds them.
const LEVEL_M_BYTES = 2331
// For the smallest code, the library splits a text into parts of digits, letters and bytes: 15 ms for 1,700 characters.
// A longer text than this is one part of bytes. Only long slugs of rare scripts exceed it.
const SPLIT_CHARACTERS = 600

/** @throws Failure `invalid` when a PNG of the requested size has less than one pixel for each module */
export async function renderQrCode(
  shortUrl: string,
  query: QrQueryInput,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const { size = SIZE, margin = MARGIN } = query
  const text = `${shortUrl}?qr=1`
  const errorCorrectionLevel = text.length > LEVEL_M_BYTES ? ('L' as const) : ('M' as const)
  const content = text.length > SPLIT_CHARACTERS ? [{ data: Buffer.from(text), mode: 'byte' as const }] : text
  const [dark, light] = [toHexColor(query.color ?? '000000'), toHexColor(query.background ?? 'ffffff')]
  if (query.format !== 'png') {
    const color = { dark: `#${dark}`, light: `#${light}` }
    const options = { width: size, margin, errorCorrectionLevel, color, type: 'svg' as const }
    return { type: 'image/svg+xml', body: await QRCode.toString(content, options) }
  }
  const { modules } = QRCode.create(content, { errorCorrectionLevel })
  const sizeMin = modules.size + 2 * margin
  if (size < sizeMin) throw invalid({ size: `must be at least ${sizeMin} for this link and margin` })
  // A large code takes some milliseconds to make, and some more to draw.
  await nextTurn()
  return { type: 'image/png', body: await drawQrPng(modules, { width: size, margin, dark, light }) }
}

/** @returns `rrggbb` of `#rgb`, `rgb`, `#rrggbb` or `rrggbb` */
function toHexColor(color: string): string {
  const hex = color.replace('#', '')
  return hex.length === 3 ? hex.replace(/./g, '$&$&') : hex
}
