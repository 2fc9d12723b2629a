// Renders the QR code of a link. The code contains `?qr=1`, so that the analytics can tell scans from clicks.

import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import QRCode from 'qrcode'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { invalid } from '../../../lib/failure.ts'
import type { QrQueryInput } from '../schema.ts'

const SIZE = 512
// ISO/IEC 18004 requires a quiet zone of four modules.
const MARGIN = 4
// The largest QR code holds this many bytes at error correction level M. Only percent-encoded slugs of rare scripts are
// longer; level L holds them.
const LEVEL_M_BYTES = 2331
// For the smallest code, the library splits a text into parts of digits, letters and bytes: 15 ms for 1,700 characters.
// A longer text than this is one part of bytes. Only long slugs of rare scripts exceed it.
const SPLIT_CHARACTERS = 600

/** The contrast by which https://www.w3.org/TR/WCAG22/#non-text-contrast tells a graphic from its background. */
const CONTRAST_MIN = 3

/**
 * @throws Failure `invalid` for a code that no phone reads, and when a PNG of the requested size has less than one pixel
 * for each module
 */
export async function renderQrCode(
  shortUrl: string,
  query: QrQueryInput,
): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  const { size = SIZE, margin = MARGIN } = query
  const text = `${shortUrl}?qr=1`
  const errorCorrectionLevel = text.length > LEVEL_M_BYTES ? ('L' as const) : ('M' as const)
  const content = text.length > SPLIT_CHARACTERS ? [{ data: Buffer.from(text), mode: 'byte' as const }] : text
  const [dark, light] = [toHexColor(query.color ?? '000000'), toHexColor(query.background ?? 'ffffff')]
  requireReadable(query, { dark, light, margin })
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

/** @throws Failure `invalid` with what to change */
function requireReadable(
  query: QrQueryInput,
  { dark, light, margin }: Pick<PngOptions, 'dark' | 'light' | 'margin'>,
): void {
  const [onTop, below] = [toLuminance(dark), toLuminance(light)]
  const contrast = (Math.max(onTop, below) + 0.05) / (Math.min(onTop, below) + 0.05)
  const isInverted = onTop > below
  if (contrast < CONTRAST_MIN) {
    // Rounded down, so that 2.99 is not called 3.
    const measured = `the contrast is ${Math.floor(contrast * 10) / 10}:1, and phones need ${CONTRAST_MIN}:1`
    const isColorSaid = query.color !== undefined
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

const compress = promisify(deflate)

/** Modules row by row: 1 is dark. */
interface QrModules {
  size: number
  data: ArrayLike<number>
}

interface PngOptions {
  /** Width and height in pixels: at least one for each module and each module of the margin. */
  width: number
  margin: number
  /** `rrggbb` */
  dark: string
  light: string
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const INDEXED_COLOR = 3

/**
 * Draws a QR code as PNG (https://www.w3.org/TR/png-3/) with two colors, one bit a pixel, and compresses it on another
 * thread. The library draws four bytes a pixel and compresses them on the event loop: 230 ms for 2048 pixels.
 */
async function drawQrPng(
  modules: QrModules,
  { width, margin, dark, light }: PngOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(width, 4)
  header.set([1, INDEXED_COLOR], 8)
  const palette = Buffer.from(light + dark, 'hex')
  const pixels = await compress(drawRows(modules, width, margin))
  const chunks = [toChunk('IHDR', header), toChunk('PLTE', palette), toChunk('IDAT', pixels)]
  return new Uint8Array(Buffer.concat([SIGNATURE, ...chunks, toChunk('IEND', Buffer.alloc(0))]))
}

/** Each row begins with a byte for "no filter". All rows of one module are the same, so each is drawn once. */
function drawRows({ size, data }: QrModules, width: number, margin: number): Buffer {
  const scale = width / (size + 2 * margin)
  const moduleAt = Array.from({ length: width }, (_, pixel) => Math.floor(pixel / scale) - margin)
  const rowBytes = 1 + Math.ceil(width / 8)
  const rows = Buffer.alloc(rowBytes * width)
  let [drawnModule, drawnAt] = [-1, 0]
  for (let y = 0; y < width; y++) {
    const row = moduleAt[y] as number
    if (row < 0 || row >= size) continue
    if (row === drawnModule) {
      rows.copyWithin(y * rowBytes, drawnAt, drawnAt + rowBytes)
      continue
    }
    drawnModule = row
    drawnAt = y * rowBytes
    for (let x = 0; x < width; x++) {
      const column = moduleAt[x] as number
      if (column < 0 || column >= size || !data[row * size + column]) continue
      const at = drawnAt + 1 + (x >> 3)
      rows[at] = (rows[at] as number) | (0x80 >> (x & 7))
    }
  }
  return rows
}

function toChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12)
  chunk.writeUInt32BE(data.length, 0)
  chunk.write(type, 4, 'latin1')
  data.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length)
  return chunk
}

/** @returns `rrggbb` of `#rgb`, `rgb`, `#rrggbb` or `rrggbb` */
function toHexColor(color: string): string {
  const hex = color.replace('#', '')
  return hex.length === 3 ? hex.replace(/./g, '$&$&') : hex
}
