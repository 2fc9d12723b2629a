// A link's QR code. It holds `shortUrl?qr=1`, so that analytics can tell scans from clicks.

import QRCode from 'qrcode'
import type { QrQueryInput } from './schema.ts'

const SIZE = 512
// ISO/IEC 18004 asks for a quiet zone of four modules.
const MARGIN = 4

export async function qrCode(
  shortUrl: string,
  query: QrQueryInput,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const options = {
    width: query.size ?? SIZE,
    margin: query.margin ?? MARGIN,
    errorCorrectionLevel: 'M' as const,
    color: { dark: hex(query.color ?? '000000'), light: hex(query.background ?? 'ffffff') },
  }
  const text = `${shortUrl}?qr=1`
  if (query.format === 'png') {
    return { type: 'image/png', body: new Uint8Array(await QRCode.toBuffer(text, options)) }
  }
  return { type: 'image/svg+xml', body: await QRCode.toString(text, { ...options, type: 'svg' }) }
}

const hex = (color: string) => `#${color.replace('#', '')}`
