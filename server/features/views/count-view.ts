// The figures of a selection: totals, a timeline and top lists, with the names and the numbers of the dashboard.

import { answerClicks } from '../analytics/answer-clicks.ts'
import { answerLeads, type LeadContext } from '../analytics/answer-leads.ts'
import type { LeadQuestion } from '../analytics/leads-schema.ts'
import type { WorkspaceScope } from '../analytics/resolve-selection.ts'
import type { ClickQuestion } from '../analytics/schema.ts'
import { type Dimension, formatValue } from './dimensions.ts'
import type { FigureMetric } from './figure-metrics.ts'
import type { ViewSelection } from './view-selection.ts'

export interface ViewTotals {
  /** Milliseconds; the end is exclusive. */
  start: number
  end: number
  clicks: number | null
  visitors: number | null
  leads: number | null
}

export interface TopRow {
  /** As a filter takes it. */
  value: string
  label: string
  count: number
}

type AnswerRow = Partial<Record<FigureMetric, number>> & Record<string, string | number | null>

/** A subject that the selection leaves out is null. */
export async function countTotals(
  needs: LeadContext,
  scope: WorkspaceScope,
  selection: ViewSelection,
): Promise<ViewTotals> {
  const [clicks, leads] = await Promise.all([
    ask(needs, scope, selection, { metric: 'clicks', groupBy: 'total' }),
    ask(needs, scope, selection, { metric: 'leads', groupBy: 'total' }),
  ])
  const { start, end } = clicks?.[0] ?? leads?.[0] ?? {}
  return {
    start: Date.parse(String(start)),
    end: Date.parse(String(end)),
    clicks: clicks?.[0]?.clicks ?? null,
    visitors: clicks?.[0]?.visitors ?? null,
    leads: leads?.[0]?.leads ?? null,
  }
}

/** @returns null where the selection leaves the subject out */
export async function countMetric(
  needs: LeadContext,
  scope: WorkspaceScope,
  selection: ViewSelection,
  metric: FigureMetric,
): Promise<number | null> {
  const rows = await ask(needs, scope, selection, { metric, groupBy: 'total' })
  return rows?.[0]?.[metric] ?? null
}

/** Every bucket of the range, empty ones too. */
export async function countTime(
  needs: LeadContext,
  scope: WorkspaceScope,
  selection: ViewSelection,
  metric: FigureMetric,
): Promise<{ at: number; count: number }[]> {
  const buckets = (await ask(needs, scope, selection, { metric, groupBy: 'time' })) ?? []
  return buckets.map(({ time, [metric]: count }) => ({ at: Date.parse(String(time)), count: count ?? 0 }))
}

/** The values with the most of the metric. */
export async function countTop(
  needs: LeadContext,
  scope: WorkspaceScope,
  selection: ViewSelection,
  { metric, dimension, limit }: { metric: FigureMetric; dimension: Dimension; limit: number },
): Promise<TopRow[]> {
  const rows = (await ask(needs, scope, selection, { metric, groupBy: dimension, limit })) ?? []
  return rows.map((row) => {
    const key = dimension === 'linkId' ? 'link' : dimension === 'tagId' ? 'tag' : dimension
    // Leads without a link have no id. A filter takes 0 for them.
    const value = String(row[key] ?? 0)
    return { value, label: toName(dimension, row) ?? formatValue(dimension, value), count: row[metric] ?? 0 }
  })
}

/** The name that an answer has beside an id. */
function toName(dimension: Dimension, row: AnswerRow): string | undefined {
  if (dimension === 'linkId') return row.slug === null ? undefined : `${row.domain}/${row.slug}`
  const hasName = (dimension === 'tagId' || dimension === 'form') && row.name !== null
  return hasName ? String(row.name) : undefined
}

interface CountQuestion {
  metric: FigureMetric
  groupBy: 'total' | 'time' | Dimension
  limit?: number
}

/** @returns null where the selection leaves the subject out */
async function ask(
  needs: LeadContext,
  scope: WorkspaceScope,
  { clicks, leads }: ViewSelection,
  { metric, groupBy, limit = 1 }: CountQuestion,
): Promise<AnswerRow[] | null> {
  const shared = { granularity: null, limit }
  if (metric !== 'leads') {
    const question = clicks && { ...clicks, ...shared, groupBy: groupBy as ClickQuestion['groupBy'] }
    return question && ([await answerClicks(needs, scope, question)].flat() as AnswerRow[])
  }
  const question = leads && {
    ...leads,
    ...shared,
    currency: null,
    groupBy: groupBy as LeadQuestion['groupBy'],
  }
  return question && ([(await answerLeads(needs, scope, question)).data].flat() as AnswerRow[])
}
