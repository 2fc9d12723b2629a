// The logo of a QR code: its size, and its pixels at the size that a code needs. Bun decodes and scales on another thread.

import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { invalid } from '../../../lib/failure.ts'

export interface QrLogo {
  png: Buffer
  width: number
  height: number
}

const PIXELS_MAX = 1024 * 1024

/** @param png a cleaned PNG, but its pixels may still be damaged @throws Failure `invalid` */
export async function readLogo(png: Buffer): Promise<QrLogo> {
  const logo = { png, width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
  await readLogoPixels(logo, 1, 1)
  return logo
}

/** @returns RGBA, row by row @throws Failure `invalid` for a picture that cannot be read */
export async function readLogoPixels({ png }: QrLogo, width: number, height: number): Promise<Buffer> {
  try {
    const scaled = await new Bun.Image(png, { maxPixels: PIXELS_MAX })
      .resize(width, height, { filter: 'box', fit: 'fill' })
      .png({ compressionLevel: 0 })
      .buffer()
    return await readPixels(scaled, width, height)
  } catch {
    throw invalid({ logo: 'is a PNG that cannot be read' })
  }
}

const inflateAsync = promisify(inflate)
const BYTES_PER_PIXEL = 4

/** Reads a PNG that Bun has written: 8-bit RGBA without interlacing, each row with its own filter. */
async function readPixels(png: Buffer, width: number, height: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  const filtered = await inflateAsync(Buffer.concat(parts))
  const rowBytes = width * BYTES_PER_PIXEL
  const pixels = Buffer.alloc(rowBytes * height)
  for (let row = 0; row < height; row++) {
    const filter = filtered[row * (rowBytes + 1)]
    for (let i = 0; i < rowBytes; i++) {
      const at = row * rowBytes + i
      const left = i < BYTES_PER_PIXEL ? 0 : (pixels[at - BYTES_PER_PIXEL] as number)
      const above = row === 0 ? 0 : (pixels[at - rowBytes] as number)
      const aboveLeft =
        row === 0 || i < BYTES_PER_PIXEL ? 0 : (pixels[at - rowBytes - BYTES_PER_PIXEL] as number)
      const byte = filtered[row * (rowBytes + 1) + 1 + i] as number
      pixels[at] = byte + predict(filter, left, above, aboveLeft)
    }
  }
  return pixels
}

/** The filters of a row (https://www.w3.org/TR/png-3/#9Filters). */
function predict(filter: number | undefined, left: number, above: number, aboveLeft: number): number {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  if (filter !== 4) return 0
  const guess = left + above - aboveLeft
  const [toLeft, toAbove, toCorner] = [
    Math.abs(guess - left),
    Math.abs(guess - above),
    Math.abs(guess - aboveLeft),
  ]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : aboveLeft
}
