// The numbers that a view counts, and their labels.

export const FIGURE_METRICS = ['clicks', 'visitors', 'leads'] as const
export type FigureMetric = (typeof FIGURE_METRICS)[number]

export const FIGURE_LABELS: Record<FigureMetric, string> = {
  clicks: 'Clicks',
  visitors: 'Visitors',
  leads: 'Leads',
}
