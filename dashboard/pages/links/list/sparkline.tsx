// A small line of a link's clicks on the last thirty days.

import { formatCount } from '../../../ui/format.ts'

const WIDTH = 80
const HEIGHT = 22
/** Half of the line's width stays inside. */
const EDGE = 1.5

export function Sparkline({ clicks }: { clicks: readonly number[] | undefined }) {
  if (!clicks) return <span className="hidden w-20 xl:block" />
  const max = Math.max(...clicks)
  const total = clicks.reduce((sum, each) => sum + each, 0)
  const points = clicks.map((each, day) => {
    const x = EDGE + (day / (clicks.length - 1)) * (WIDTH - 2 * EDGE)
    const y = HEIGHT - EDGE - (max === 0 ? 0 : each / max) * (HEIGHT - 2 * EDGE)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  const label = `${formatCount(total, 'click')} in the last 30 days`
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="hidden h-5.5 w-20 xl:block"
    >
      <title>{label}</title>
      <polyline
        points={points.join(' ')}
        fill="none"
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
        className={total === 0 ? 'stroke-strong' : 'stroke-accent'}
      />
    </svg>
  )
}
