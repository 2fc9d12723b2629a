// The numbers that a view counts.

export const FIGURE_METRICS = ['clicks', 'visitors', 'leads'] as const
export type FigureMetric = (typeof FIGURE_METRICS)[number]
