// The figures of a shared page: of the view, narrowed by the query of the page.

import type { LeadContext } from '../../analytics/answer-leads.ts'
import type { WorkspaceScope } from '../../analytics/resolve-selection.ts'
import { INTERVALS, type Interval, resolveInterval } from '../../analytics/timeline.ts'
import { findLastProof } from '../../proofs/proof-chain.ts'
import { countTime, countTop, countTotals, type TopRow, type ViewTotals } from '../count-view.ts'
import { CARDS, type Card, type Dimension, LEAD_CARD } from '../dimensions.ts'
import type { FigureMetric } from '../figure-metrics.ts'
import { toViewSettings, type ViewRow } from '../view.ts'
import { type AskedView, narrowSelection, readAskedView } from './narrow-selection.ts'

const ROWS = 10

export interface SharedCard extends Card {
  /** The dimension that the card shows. */
  dimension: Dimension
  rows: TopRow[]
}

export interface SharedAnswer {
  name: string
  asked: AskedView
  /** The tabs that the visitor has chosen. */
  tabs: Dimension[]
  timezone: string
  totals: ViewTotals
  metric: FigureMetric
  time: { at: number; count: number }[]
  cards: SharedCard[]
  /** The last closed day of the workspace; null before the first one. Its number of hits is more than the view shows. */
  proof: { day: string; hash: string } | null
  /** Intervals that are a part of the view's range. */
  intervals: Interval[]
}

/** @throws Failure `invalid` for parameters that the page does not have */
export async function answerSharedView(
  needs: LeadContext,
  view: ViewRow,
  query: URLSearchParams,
): Promise<SharedAnswer> {
  const scope: WorkspaceScope = { workspaceId: view.workspace_id }
  const asked = readAskedView(query)
  const { selection: narrowed, whole } = await narrowSelection(needs, scope, toViewSettings(view), asked)
  const selection = view.share_leads_shown === 1 ? narrowed : { ...narrowed, leads: null }
  const metric = readMetric(query.get('metric'), selection)
  const chosen = query.get('tabs')?.split(',') ?? []
  const cards = metric === 'leads' ? [...CARDS, LEAD_CARD] : CARDS
  const isOpen = (each: Dimension) => chosen.includes(each)
  const shown = cards.map(({ title, dimensions: all }) => {
    const dimensions = metric === 'leads' ? all.filter((each) => !CLICKS_ONLY.includes(each)) : all
    return { title, dimensions, dimension: dimensions.find(isOpen) ?? (dimensions[0] as Dimension) }
  })
  const counted = selection.clicks ?? selection.leads
  const [proof = null, totals, time, ...rows] = await Promise.all([
    findLastProof(needs.db.read, view.workspace_id),
    counted ? countTotals(needs, scope, selection) : { ...whole, clicks: null, visitors: null, leads: null },
    counted ? countTime(needs, scope, selection, metric) : [],
    ...shown.map(async ({ dimension }) =>
      counted ? countTop(needs, scope, selection, { metric, dimension, limit: ROWS }) : [],
    ),
  ])
  return {
    name: view.name,
    asked,
    timezone: selection.timezone,
    totals,
    metric,
    time,
    proof,
    tabs: shown.flatMap(({ dimensions, dimension }) => (dimension === dimensions[0] ? [] : [dimension])),
    cards: shown.map((card, i) => ({ ...card, rows: rows[i] ?? [] })),
    intervals: INTERVALS.filter((each) => {
      const { start, end } = resolveInterval(each, selection.timezone, needs.now(), whole.start)
      return each !== 'all' && start > whole.start && start < whole.end && end >= whole.end
    }),
  }
}

const CLICKS_ONLY: Dimension[] = ['referrerUrl', 'trigger']

function readMetric(
  asked: string | null,
  { clicks, leads }: { clicks: unknown; leads: unknown },
): FigureMetric {
  if (leads && (asked === 'leads' || !clicks)) return 'leads'
  return asked === 'visitors' ? 'visitors' : 'clicks'
}
