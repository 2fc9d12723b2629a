// Makes samples of metrics.

import type { Metric } from '../health-and-metrics.ts'

type Name = `towpath_${string}`

export const gauge = (name: Name, help: string, value: number): Metric => ({
  name,
  kind: 'gauge',
  help,
  value,
})

export const counter = (
  name: Name,
  help: string,
  value: number,
  labels?: Record<string, string>,
): Metric => ({ name, kind: 'counter', help, labels, value })
