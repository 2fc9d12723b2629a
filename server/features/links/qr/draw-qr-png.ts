// Draws a QR code as PNG (https://www.w3.org/TR/png-3/), and compresses it on another thread.

import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import type { QrPaint } from './draw-qr-svg.ts'
import { DARK, FINDER_SIZE, type QrShapes, ROUND, toLogoBox } from './qr-shapes.ts'
import { readLogoPixels } from './read-logo.ts'

const compress = promisify(deflate)

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const INDEXED_COLOR = 3
const TRUE_COLOR = 2

export async function drawQrPng(shapes: QrShapes, paint: QrPaint): Promise<Uint8Array<ArrayBuffer>> {
  const { width, dark, light, logo } = paint
  const isPlain = !logo && shapes.radii[0] === 0 && !shapes.cells.some((cell) => (cell & ROUND.all) !== 0)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(width, 4)
  header.set(isPlain ? [1, INDEXED_COLOR] : [8, TRUE_COLOR], 8)
  const rows = isPlain ? drawPlainRows(shapes, paint) : await drawSmoothRows(shapes, paint)
  const chunks = [
    toChunk('IHDR', header),
    ...(isPlain ? [toChunk('PLTE', Buffer.from(light + dark, 'hex'))] : []),
    toChunk('IDAT', await compress(rows)),
    toChunk('IEND', Buffer.alloc(0)),
  ]
  return new Uint8Array(Buffer.concat([SIGNATURE, ...chunks]))
}

/** The module of each pixel. */
const listModules = (width: number, scale: number, margin: number) =>
  Array.from({ length: width }, (_, pixel) => Math.floor(pixel / scale) - margin)

/**
 * One bit a pixel. Each row begins with a byte for "no filter". All rows of one module are the same, so each is drawn
 * once.
 */
function drawPlainRows(shapes: QrShapes, { width, margin }: QrPaint): Buffer {
  const { size } = shapes
  const moduleAt = listModules(width, width / (size + 2 * margin), margin)
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
      if (column < 0 || column >= size || findInk(shapes, column + 0.5, row + 0.5, 1) === 0) continue
      const at = drawnAt + 1 + (x >> 3)
      rows[at] = (rows[at] as number) | (0x80 >> (x & 7))
    }
  }
  return rows
}

/** Three bytes a pixel: edges are smooth, and the logo has its colors. */
async function drawSmoothRows(shapes: QrShapes, paint: QrPaint): Promise<Buffer> {
  const { width, margin } = paint
  const scale = width / (shapes.size + 2 * margin)
  const inks = listShades(Buffer.from(paint.light, 'hex'), Buffer.from(paint.dark, 'hex'))
  const rowBytes = 1 + 3 * width
  const rows = Buffer.alloc(rowBytes * width)
  const pace = createPacer()
  for (let y = 0; y < width; y++) {
    const wait = pace()
    if (wait) await wait
    const v = (y + 0.5) / scale - margin
    let at = y * rowBytes + 1
    for (let x = 0; x < width; x++) {
      const ink = Math.round(findInk(shapes, (x + 0.5) / scale - margin, v, scale) * SHADES)
      for (let channel = 0; channel < 3; channel++) rows[at++] = inks[ink * 3 + channel] as number
    }
  }
  if (paint.logo) await drawLogo(shapes, paint, { rows, rowBytes, scale, logo: paint.logo })
  return rows
}

const SHADES = 32

/** The colors from light to dark, three bytes each: edges need no more of them, and fewer compress better. */
const listShades = (light: Buffer, dark: Buffer) =>
  Buffer.from(
    Array.from({ length: (SHADES + 1) * 3 }, (_, i) =>
      mix(light[i % 3] as number, dark[i % 3] as number, Math.floor(i / 3) / SHADES),
    ),
  )

const mix = (below: number, above: number, part: number) => Math.round(below + (above - below) * part)

async function drawLogo(
  shapes: QrShapes,
  { margin }: QrPaint,
  {
    rows,
    rowBytes,
    scale,
    logo,
  }: { rows: Buffer; rowBytes: number; scale: number; logo: NonNullable<QrPaint['logo']> },
): Promise<void> {
  const box = toLogoBox(shapes, logo)
  const toPixel = (modules: number) => Math.round(modules * scale)
  const [left, top] = [toPixel(box.x + margin), toPixel(box.y + margin)]
  const [width, height] = [Math.max(1, toPixel(box.width)), Math.max(1, toPixel(box.height))]
  const pixels = await readLogoPixels(logo, width, height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4
      const to = (top + y) * rowBytes + 1 + (left + x) * 3
      for (let channel = 0; channel < 3; channel++)
        rows[to + channel] = mix(
          rows[to + channel] as number,
          pixels[from + channel] as number,
          (pixels[from + 3] as number) / 255,
        )
    }
}

/**
 * The darkness of a pixel, from 0 to 1: by the distance of its center from the edge of the shape.
 * @param u position in modules
 * @param scale pixels for each module
 */
function findInk({ size, cells, radii }: QrShapes, u: number, v: number, scale: number): number {
  if (u < 0 || v < 0 || u >= size || v >= size) return 0
  const far = size - FINDER_SIZE
  if (u < FINDER_SIZE ? v < FINDER_SIZE || v >= far : u >= far && v < FINDER_SIZE)
    return findFinderInk(radii, findOffset(u, size), findOffset(v, size), scale)
  const column = Math.floor(u)
  const row = Math.floor(v)
  const cell = cells[row * size + column] as number
  if ((cell & DARK) === 0) return 0
  const x = u - column - 0.5
  const y = v - row - 0.5
  const corner =
    y < 0 ? (x < 0 ? ROUND.topLeft : ROUND.topRight) : x < 0 ? ROUND.bottomLeft : ROUND.bottomRight
  return (cell & corner) === 0 ? 1 : toInk(Math.sqrt(x * x + y * y) - 0.5, scale)
}

const FINDER_HALF = FINDER_SIZE / 2

/** The distance from the center of the large corner. */
const findOffset = (at: number, size: number) =>
  Math.abs(at < FINDER_SIZE ? at - FINDER_HALF : at - size + FINDER_HALF)

function findFinderInk(radii: QrShapes['radii'], x: number, y: number, scale: number): number {
  const frame = toInk(measureSquare(x, y, FINDER_HALF, radii[0]), scale)
  const hole = toInk(measureSquare(x, y, FINDER_HALF - 1, radii[1]), scale)
  const center = toInk(measureSquare(x, y, FINDER_HALF - 2, radii[2]), scale)
  return Math.max(Math.min(frame, 1 - hole), center)
}

/** The distance from the edge of a square with round corners around the origin; negative inside. */
function measureSquare(x: number, y: number, half: number, radius: number): number {
  const dx = x - half + radius
  const dy = y - half + radius
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius
}

const toInk = (distance: number, scale: number) => Math.min(Math.max(0.5 - distance * scale, 0), 1)

function toChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12)
  chunk.writeUInt32BE(data.length, 0)
  chunk.write(type, 4, 'latin1')
  data.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length)
  return chunk
}
