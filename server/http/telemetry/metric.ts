// Makes samples of metrics.

import type { Metric } from '../health-and-metrics.ts'

export const gauge = (name: string, help: string, value: number): Metric => ({
  name,
  kind: 'gauge',
  help,
  value,
})

export const counter = (
  name: string,
  help: string,
  value: number,
  labels?: Record<string, string>,
): Metric => ({ name, kind: 'counter', help, labels, value })
