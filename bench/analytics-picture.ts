// Draws how the time of the dashboard's page grows with the instance, from hits and from roll-ups: an SVG of plain shapes. It
// has a background of its own and follows the reader's colour scheme, so it is readable on light and on dark pages.

import { type SizeResult, SUBJECTS, type Timing } from './analytics-growth.ts'

const WIDTH = 880
const HEIGHT = 400
const PANEL = { width: 320, height: 250, top: 84 }
const LEFT = [76, 508] as const
/** Milliseconds. */
const GRID = [10, 100, 1000, 10_000, 100_000]

const STYLE = `
  svg { color-scheme: light dark; font: 13px system-ui, sans-serif }
  .card { fill: #ffffff; stroke: #d0d7de }
  .text { fill: #1f2328 }
  .soft { fill: #59636e }
  .grid { stroke: #d8dee4 }
  .raw { stroke: #b35900 } .raw-fill { fill: #b35900 }
  .rolled { stroke: #0969da } .rolled-fill { fill: #0969da }
  .line { fill: none; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    .text { fill: #f0f6fc }
    .soft { fill: #9198a1 }
    .grid { stroke: #30363d }
    .raw { stroke: #f0883e } .raw-fill { fill: #f0883e }
    .rolled { stroke: #58a6ff } .rolled-fill { fill: #58a6ff }
  }`

/** @param path where the SVG is written */
export const drawGrowth = (results: SizeResult[], path: string): Promise<number> =>
  Bun.write(path, toSvg(results))

function toSvg(results: SizeResult[]): string {
  const title = 'Eleven questions of the analytics page over 300 days, by clicks in the instance'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${title}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10"/>`,
    text(24, 34, title, 'text', 'font-size="15" font-weight="600"'),
    text(24, 56, 'Milliseconds, one after the other; both scales are logarithmic', 'soft'),
    toKey(640, 56),
    ...SUBJECTS.map(({ name }, n) => toPanel(results, n, name)),
    '</svg>\n',
  ].join('\n')
}

const text = (x: number, y: number, content: string, className: string, rest = '') =>
  `<text class="${className}" x="${x.toFixed(1)}" y="${y.toFixed(1)}"${rest && ` ${rest}`}>${content}</text>`

const toKey = (x: number, y: number) =>
  [
    `<circle class="raw-fill" cx="${x}" cy="${y - 4}" r="4"/>`,
    text(x + 10, y, 'from hits', 'text'),
    `<circle class="rolled-fill" cx="${x + 96}" cy="${y - 4}" r="4"/>`,
    text(x + 106, y, 'from roll-ups', 'text'),
  ].join('\n')

/** @returns where a value of the list's range lies on a logarithmic scale, from 0 to 1 */
function createScale(values: readonly number[]): (value: number) => number {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))]
  return (value) => (high === low ? 0.5 : (Math.log(value) - low) / (high - low))
}

/** The lines of the grid that the times of all panels need. */
function listGridLines(results: SizeResult[]): number[] {
  const times = results.flatMap(({ subjects }) => subjects.flatMap(({ page }) => [page.raw, page.rolled]))
  const first = GRID.findLastIndex((each) => each <= Math.min(...times))
  const last = GRID.findIndex((each) => each >= Math.max(...times))
  return GRID.slice(Math.max(0, first), last < 0 ? GRID.length : last + 1)
}

function toPanel(results: SizeResult[], place: number, name: string): string {
  const left = LEFT[place] as number
  const bottom = PANEL.top + PANEL.height
  const lines = listGridLines(results)
  const scaleX = createScale(results.map(({ millions }) => millions))
  const scaleY = createScale(lines)
  const toX = (millions: number) => left + 16 + scaleX(millions) * (PANEL.width - 32)
  const toY = (ms: number) => bottom - 28 - scaleY(ms) * (PANEL.height - 56)
  const grid = lines.map((ms) => {
    const y = toY(ms).toFixed(1)
    return [
      `<line class="grid" x1="${left}" y1="${y}" x2="${left + PANEL.width}" y2="${y}"/>`,
      text(left - 8, toY(ms) + 4, ms.toLocaleString('en-US'), 'soft', 'text-anchor="end"'),
    ].join('\n')
  })
  const sizes = results.map(({ millions }) =>
    text(toX(millions), bottom + 12, `${millions} M`, 'soft', 'text-anchor="middle"'),
  )
  const toPoints = (way: keyof Timing) =>
    results.map(({ millions, subjects }) => {
      const ms = subjects[place]?.page[way] as number
      return { x: toX(millions), y: toY(ms), ms }
    })
  return [
    text(left, PANEL.top + 8, name, 'text', 'font-weight="600"'),
    ...grid,
    ...sizes,
    text(left + PANEL.width / 2, bottom + 36, 'clicks in the instance', 'soft', 'text-anchor="middle"'),
    toLine(toPoints('raw'), 'raw', -10),
    toLine(toPoints('rolled'), 'rolled', 20),
  ].join('\n')
}

/** @param labelOffset where the numbers stand: above the line or below it */
function toLine(points: { x: number; y: number; ms: number }[], way: keyof Timing, labelOffset: number) {
  const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
  return [
    `<polyline class="line ${way}" points="${path}"/>`,
    ...points.flatMap(({ x, y, ms }) => [
      `<circle class="${way}-fill" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4"/>`,
      text(
        x,
        y + labelOffset,
        Math.round(ms).toLocaleString('en-US'),
        `${way}-fill`,
        'text-anchor="middle" font-weight="600"',
      ),
    ]),
  ].join('\n')
}
