// One point of a line chart, and the matching point of the previous period.

export interface ChartPoint {
  /** `Saturday, 21 November` */
  label: string
  /** `21 Nov` */
  short: string
  value: number
  /** The matching point of the previous period, and its label. */
  previous?: number
  previousLabel?: string
}
