// Draws figures as SVG for pages without scripts: a bar for each bucket of a timeline, and a bar behind a row.

import { html } from 'hono/html'

const HEIGHT = 100
const STEP = 10
const GAP = 2

/** Bars of a timeline. They take the whole width of the page, whatever their number. @param label for readers of screens */
export function timelineChart(bars: { count: number; title: string }[], label: string) {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return html`<svg class="chart" viewBox="0 0 ${bars.length * STEP} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars.map(
    ({ count, title }, i) => {
      const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT)
      return html`<g><title>${title}</title><rect class="space" x="${i * STEP}" y="0" width="${STEP}" height="${HEIGHT}"/><rect class="bar" x="${i * STEP + GAP / 2}" y="${(HEIGHT - height).toFixed(2)}" width="${STEP - GAP}" height="${height.toFixed(2)}"/></g>`
    },
  )}</svg>`
}

/** @param share from 0 to 1 */
export const shareBar = (share: number) =>
  html`<svg class="share" aria-hidden="true"><rect class="bar" width="${(share * 100).toFixed(1)}%" height="100%"/></svg>`

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
export const formatFigure = (count: number) => numbers.format(count)

const HOUR = 3_600_000

/** Formats the starts of buckets: with their time of day where they are shorter than a day. */
export function createBucketFormatter(buckets: { at: number }[], timeZone: string): (at: number) => string {
  const [first = 0, second = first + 24 * HOUR] = buckets.map(({ at }) => at)
  const isShort = second - first < 20 * HOUR
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    dateStyle: 'medium',
    ...(isShort && { timeStyle: 'short' as const }),
  })
  return (at) => format.format(at)
}
