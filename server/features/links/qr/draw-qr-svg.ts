// Draws a QR code as SVG: a background, one path of all modules, and the logo.

import { DARK, FINDER_SIZE, type QrShapes, ROUND, toLogoBox } from './qr-shapes.ts'
import type { QrLogo } from './read-logo.ts'

export interface QrPaint {
  /** Width and height in pixels. */
  width: number
  /** The quiet zone in modules. */
  margin: number
  /** `rrggbb` */
  dark: string
  light: string
  logo: QrLogo | undefined
}

export function drawQrSvg(shapes: QrShapes, { width, margin, dark, light, logo }: QrPaint): string {
  const side = shapes.size + 2 * margin
  // Prevents hairlines between touching modules in browsers. Too thin to join others.
  const seam = shapes.cells.some((cell) => (cell & ROUND.all) !== 0)
    ? ` stroke="#${dark}" stroke-width=".04"`
    : ''
  const edges = seam === '' && shapes.radii[0] === 0 ? ' shape-rendering="crispEdges"' : ''
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${width}" viewBox="0 0 ${side} ${side}"${edges}>` +
    `<path fill="#${light}" d="M0 0h${side}v${side}H0z"/>` +
    `<g transform="translate(${margin} ${margin})">` +
    `<path fill="#${dark}"${seam} d="${toRowPaths(shapes)}"/>` +
    `<path fill="#${dark}" fill-rule="evenodd" d="${toFinderPath(shapes)}"/>` +
    `${logo ? toImage(shapes, logo) : ''}</g></svg>\n`
  )
}

function toImage(shapes: QrShapes, logo: QrLogo): string {
  const { x, y, width, height } = toLogoBox(shapes, logo)
  const box = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`
  return `<image ${box} href="data:image/png;base64,${logo.png.toString('base64')}"/>`
}

const round = (value: number) => Math.round(value * 1000) / 1000

/** One shape for each run of dark modules in a row: only its ends can be round. */
function toRowPaths({ size, cells }: QrShapes): string {
  const paths: string[] = []
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const first = cells[y * size + x] as number
      if ((first & DARK) === 0) continue
      let end = x
      // Dots do not touch.
      while (canJoin(cells[y * size + end], cells[y * size + end + 1]) && end + 1 < size) end++
      paths.push(toRun(x, y, end - x + 1, first, cells[y * size + end] as number))
      x = end
    }
  }
  return paths.join('')
}

const RIGHT = ROUND.topRight | ROUND.bottomRight
const LEFT = ROUND.topLeft | ROUND.bottomLeft

const canJoin = (here = 0, next = 0) => (next & DARK) !== 0 && (here & RIGHT) === 0 && (next & LEFT) === 0

/** Clockwise from the upper left corner. */
function toRun(x: number, y: number, length: number, first: number, last: number): string {
  if (((first | last) & ROUND.all) === 0) return `M${x} ${y}h${length}v1h-${length}z`
  const across = length - 1
  return (
    `M${x + 0.5} ${y}${across > 0 ? `h${across}` : ''}` +
    `${last & ROUND.topRight ? 'a.5.5 0 0 1 .5.5' : 'h.5v.5'}` +
    `${last & ROUND.bottomRight ? 'a.5.5 0 0 1-.5.5' : 'v.5h-.5'}` +
    `${across > 0 ? `h-${across}` : ''}` +
    `${first & ROUND.bottomLeft ? 'a.5.5 0 0 1-.5-.5' : 'h-.5v-.5'}` +
    `${first & ROUND.topLeft ? 'a.5.5 0 0 1 .5-.5' : 'v-.5h.5'}z`
  )
}

/** By the rule "evenodd", the second square is a hole in the first. */
const toFinderPath = ({ finders, radii: [frame, hole, center] }: QrShapes) =>
  finders
    .map(([x, y]) =>
      [
        toSquare(x, y, FINDER_SIZE, frame),
        toSquare(x + 1, y + 1, FINDER_SIZE - 2, hole),
        toSquare(x + 2, y + 2, FINDER_SIZE - 4, center),
      ].join(''),
    )
    .join('')

function toSquare(x: number, y: number, side: number, radius: number): string {
  if (radius === 0) return `M${x} ${y}h${side}v${side}h-${side}z`
  const straight = side - 2 * radius
  const arc = (dx: number, dy: number) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`
  return (
    `M${x + radius} ${y}h${straight}${arc(radius, radius)}v${straight}${arc(-radius, radius)}` +
    `h${-straight}${arc(-radius, -radius)}v${-straight}${arc(radius, -radius)}z`
  )
}
