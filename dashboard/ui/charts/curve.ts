// The mathematics of a line chart: round numbers for its axis, and a curve through points at equal distances.

/** About this many lines are across a chart. */
const LINES = 4

/** The step between lines: 1, 2 or 5 times a power of ten. */
function chooseStep(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / LINES))
  const factor = highest / LINES / power
  return power * (factor >= Math.sqrt(50) ? 10 : factor >= Math.sqrt(10) ? 5 : factor >= Math.SQRT2 ? 2 : 1)
}

/** @param highest at least 1 @returns values from 0 to the highest one or just above it */
export function chooseTicks(highest: number): number[] {
  const ceil = (top: number) => Math.ceil(top / chooseStep(top)) * chooseStep(top)
  // A rounder top may have a larger step.
  const top = ceil(ceil(highest))
  const step = chooseStep(top)
  // Steps below 1 have one decimal, which sums of them would not keep.
  return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => Number((index * step).toFixed(1)))
}

/**
 * The path of a curve that stays between its points: a day without clicks is never below zero.
 * Steffen, M. (1990): A simple method for monotonic interpolation in one dimension. https://adsabs.harvard.edu/full/1990A&A...239..443S
 * @param xs at equal distances
 */
export function toCurve(xs: number[], ys: number[]): string {
  const at = (index: number) => ys[index] ?? 0
  const last = xs.length - 1
  const rise = (index: number) => at(index + 1) - at(index)
  const innerSlope = (index: number) => {
    const [before, after] = [rise(index - 1), rise(index)]
    const steepest = Math.min(Math.abs(before), Math.abs(after), Math.abs(before + after) / 4)
    return (Math.sign(before) + Math.sign(after)) * steepest
  }
  const slope = (index: number) => {
    if (last === 1) return rise(0)
    if (index === 0) return (3 * rise(0) - innerSlope(1)) / 2
    return index === last ? (3 * rise(last - 1) - innerSlope(last - 1)) / 2 : innerSlope(index)
  }
  const distance = last > 0 ? ((xs[1] ?? 0) - (xs[0] ?? 0)) / 3 : 0
  const pair = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`
  return xs
    .map((x, index) => {
      if (index === 0) return `M${pair(x, at(0))}`
      const from = pair(x - 2 * distance, at(index - 1) + slope(index - 1) / 3)
      return `C${from} ${pair(x - distance, at(index) - slope(index) / 3)} ${pair(x, at(index))}`
    })
    .join('')
}
