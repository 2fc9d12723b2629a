// The shapes of a QR code: the drawn modules, their round corners, and the place of the logo. SVG and PNG use the
// same shapes.

import type { QrStyle } from './schema.ts'

/** Modules row by row: 1 is dark. */
export interface QrModules {
  size: number
  data: ArrayLike<number>
  /** 1 where a module guides the camera (timing, alignment, format): round ones cannot be found in some sizes. */
  reservedBit: ArrayLike<number>
}

/** Bits of the corners of a module, clockwise. */
export const ROUND = { topLeft: 1, topRight: 2, bottomRight: 4, bottomLeft: 8, all: 15 } as const
/** The bit of a module that is drawn. */
export const DARK = 16

/** A large corner has 7 × 7 modules: a frame of one module, and a center of three (ISO/IEC 18004, finder pattern). */
export const FINDER_SIZE = 7
const FINDER_RADII: Record<QrStyle, readonly [frame: number, hole: number, center: number]> = {
  square: [0, 0, 0],
  rounded: [2, 1, 0.75],
  dots: [3.5, 2.5, 1.5],
}

export interface QrShapes {
  size: number
  /** The bits of each module, without the large corners and without those behind the logo. */
  cells: Uint8Array
  /** The upper left modules of the three large corners. */
  finders: readonly (readonly [x: number, y: number])[]
  radii: readonly [frame: number, hole: number, center: number]
  /** Width of the square in the middle that the logo takes, in modules; 0 without a logo. */
  logoSize: number
}

export interface QrLook {
  dots: QrStyle
  corners: QrStyle
  hasLogo: boolean
}

/**
 * A logo takes at most a quarter of the width, which is a sixteenth of the modules: error correction level H restores up to
 * 30 % of them. An odd number, so that the square ends between modules.
 */
const toLogoSize = (size: number) => {
  const quarter = Math.floor(size / 4)
  return quarter % 2 === 1 ? quarter : quarter - 1
}

export function createQrShapes(
  { size, data, reservedBit }: QrModules,
  { dots, corners, hasLogo }: QrLook,
): QrShapes {
  const far = size - FINDER_SIZE
  const logoSize = hasLogo ? toLogoSize(size) : 0
  const [logoFrom, logoTo] = [(size - logoSize) / 2, (size + logoSize) / 2]
  const isInLogo = (at: number) => at >= logoFrom && at < logoTo
  const isInFinder = (x: number, y: number) =>
    (x < FINDER_SIZE && (y < FINDER_SIZE || y >= far)) || (x >= far && y < FINDER_SIZE)
  const isDark = (x: number, y: number) =>
    x >= 0 &&
    y >= 0 &&
    x < size &&
    y < size &&
    data[y * size + x] === 1 &&
    !(isInLogo(x) && isInLogo(y)) &&
    !isInFinder(x, y)
  const cells = new Uint8Array(size * size)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++)
      if (isDark(x, y)) {
        const style = reservedBit[y * size + x] ? 'square' : dots
        cells[y * size + x] = DARK | findRoundCorners(style, x, y, isDark)
      }
  return {
    size,
    cells,
    finders: [
      [0, 0],
      [far, 0],
      [0, far],
    ],
    radii: FINDER_RADII[corners],
    logoSize,
  }
}

/** A rounded corner has no dark neighbor on either side, so that neighbors flow into one another. */
function findRoundCorners(
  style: QrStyle,
  x: number,
  y: number,
  isDark: (x: number, y: number) => boolean,
): number {
  if (style === 'square') return 0
  if (style === 'dots') return ROUND.all
  const [above, right, below, left] = [isDark(x, y - 1), isDark(x + 1, y), isDark(x, y + 1), isDark(x - 1, y)]
  return (
    (above || left ? 0 : ROUND.topLeft) |
    (above || right ? 0 : ROUND.topRight) |
    (below || right ? 0 : ROUND.bottomRight) |
    (below || left ? 0 : ROUND.bottomLeft)
  )
}

export interface LogoBox {
  x: number
  y: number
  width: number
  height: number
}

/** The place of the logo, in modules: half a module of margin, with the logo's proportions. */
export function toLogoBox({ size, logoSize }: QrShapes, logo: { width: number; height: number }): LogoBox {
  const scale = (logoSize - 1) / Math.max(logo.width, logo.height)
  const [width, height] = [logo.width * scale, logo.height * scale]
  return { x: (size - width) / 2, y: (size - height) / 2, width, height }
}
