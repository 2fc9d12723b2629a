// A histogram: how many values were at most as large as each bound, as Prometheus counts them.

export interface HistogramSnapshot {
  /** The upper bounds, ascending. Prometheus has one more bucket, without a bound: `count`. */
  bounds: readonly number[]
  /** For each bound, how many values were at most as large. */
  cumulative: number[]
  sum: number
  count: number
}

export interface Histogram {
  observe(value: number): void
  read(): HistogramSnapshot
}

export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0)
  let [sum, count] = [0, 0]
  return {
    observe(value) {
      const index = bounds.findIndex((bound) => value <= bound)
      if (index >= 0) counts[index] = (counts[index] as number) + 1
      sum += value
      count++
    },
    read() {
      let total = 0
      return { bounds, cumulative: counts.map((each) => (total += each)), sum, count }
    },
  }
}
