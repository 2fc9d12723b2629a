// One point of a line chart, and the matching point of the previous period.

export interface ChartPoint {
  /** `Saturday, 21 November` */
  label: string
  /** `21 Nov` */
  short: string
  /** undefined before there was anything to count. */
  value: number | undefined
  /** The matching point of the previous period, and its label. */
  previous?: number
  previousLabel?: string
}
