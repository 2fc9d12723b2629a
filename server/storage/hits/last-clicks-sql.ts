// Builds the SQL statements that find last clicks: of visitors before given times, and of links.

import { DAY_MS } from '../../lib/utc-day.ts'
import { createBinder, type FilterDialect, type Statement } from '../filter-sql.ts'
import { toStoredVisitor } from './day-visitor.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { IS_CLICK } from './hit-day.ts'
import type { SpanDialect } from './hit-dialect.ts'
import {
  CLICK_SOURCE_FIELDS,
  type ClickSource,
  type LastClick,
  type LastClicksQuery,
  type LastClickTime,
} from './hit-engine.ts'

/** The time after `since`, up to and including `until`. A span has the index of its moment in the question. */
interface Span {
  visitor: string
  since: number
  until: number
  /** The index of the visitor's previous moment, whose click can also be the last click of this moment. */
  before: number | undefined
}

/** A stored form of the visitor, and the part of the span in which hits have this form. */
interface SpanPart extends Pick<Span, 'visitor' | 'since' | 'until'> {
  span: number
}

/** The columns of a row after its span. In this order they decide which click is the newest one. */
const CLICK_COLUMNS = [
  'recorded_at',
  'id',
  'node',
  'link_id',
  'variant',
  ...CLICK_SOURCE_FIELDS.map((field) => HIT_COLUMNS[field]),
]

/**
 * The spans of a visitor do not overlap, and neither do the parts with one form of the visitor. So the engine compares
 * each click with one moment only: 330,000 clicks of one visitor before 500 moments take 0.4 s instead of 8. A span without a
 * click has no row: then `read` uses the click of the visitor's previous span.
 */
export function toLastClicksSql(
  { workspaceId, moments, withinMs }: LastClicksQuery,
  dialect: SpanDialect,
): Statement<(LastClick | null)[]> {
  const spans = toSpans(moments, withinMs)
  const parts = spans.flatMap(toParts)
  const { params, bind } = createBinder(dialect)
  const spanTable = dialect.spans(
    bind(parts.map(({ visitor }) => visitor)),
    bind(parts.map(({ since }) => since)),
    bind(parts.map(({ until }) => until)),
    bind(parts.map(({ span }) => span)),
  )
  const conditions = [
    `workspace_id = ${bind(workspaceId)}`,
    // The spans imply these two conditions, but engines find the right blocks by them.
    `recorded_at > ${bind(Math.min(...spans.map(({ since }) => since)))}`,
    `recorded_at <= ${bind(Math.max(...spans.map(({ until }) => until)))}`,
    `outcome = ${bind('redirect')}`,
    `class = ${bind('human')}`,
    'import_id IS NULL',
    'recorded_at > since AND recorded_at <= until',
  ]
  return {
    // The engine reads only the hits of these visitors, because it knows them before the join.
    text: `WITH asked AS (SELECT * FROM ${spanTable} AS spans)
      SELECT span, ${dialect.newest(CLICK_COLUMNS)} FROM hits JOIN asked USING (visitor)
      WHERE visitor IN (SELECT visitor FROM asked) AND ${conditions.join(' AND ')} GROUP BY span`,
    params,
    read: (rows) => resolveAnswers(spans, new Map(rows.map(toLastClick)), withinMs),
  }
}

function toLastClick([span, at, id, node, linkId, variant, ...texts]: readonly unknown[]): [
  number,
  LastClick,
] {
  const source = Object.fromEntries(
    CLICK_SOURCE_FIELDS.map((field, index) => [field, texts[index] ?? null]),
  ) as ClickSource
  return [
    Number(span),
    {
      id: Number(id),
      node: String(node),
      linkId: Number(linkId),
      variant: variant === null || variant === undefined ? null : String(variant),
      at: Number(at),
      ...source,
    },
  ]
}

function toSpans(moments: LastClicksQuery['moments'], withinMs: number): Span[] {
  const spans = moments.map(({ visitor, at }): Span => {
    return { visitor, since: at - withinMs, until: at, before: undefined }
  })
  const last = new Map<string, number>()
  for (const number of sortByTime(spans)) {
    const span = spans[number] as Span
    const before = last.get(span.visitor)
    last.set(span.visitor, number)
    if (before === undefined) continue
    span.before = before
    span.since = Math.max(span.since, (spans[before] as Span).until)
  }
  return spans
}

/**
 * A moment has the visitor's whole hash. A hit has the stored form for its day, or the whole hash if an earlier release has
 * loaded it.
 */
function toParts({ visitor, since, until }: Span, span: number): SpanPart[] {
  const parts: SpanPart[] = [{ visitor, since, until, span }]
  // Every visitor of a hit is a number of 64 bits.
  if (!/^\d{1,20}$/.test(visitor) || BigInt(visitor) >= 2n ** 64n) return parts
  const first = Math.max(since + 1, 0)
  for (let day = Math.floor(first / DAY_MS) * DAY_MS; first <= until && day <= until; day += DAY_MS) {
    const stored = toStoredVisitor(visitor, day)
    if (stored === visitor) continue
    parts.push({
      visitor: stored,
      since: Math.max(since, day - 1),
      until: Math.min(until, day + DAY_MS - 1),
      span,
    })
  }
  return parts
}

function resolveAnswers(
  spans: Span[],
  clicks: Map<number, LastClick>,
  withinMs: number,
): (LastClick | null)[] {
  const answers: (LastClick | null)[] = spans.map(() => null)
  for (const number of sortByTime(spans)) {
    const { until, before } = spans[number] as Span
    const click = clicks.get(number) ?? (before === undefined ? null : answers[before]) ?? null
    answers[number] = click && click.at > until - withinMs ? click : null
  }
  return answers
}

const sortByTime = (spans: Span[]) =>
  [...spans.keys()].sort((a, b) => (spans[a] as Span).until - (spans[b] as Span).until)

/** Builds the SQL statement that finds the time of the newest click of each link. */
export function toLastClickTimesSql(
  workspaceId: number,
  linkIds: number[],
  dialect: FilterDialect,
): Statement<LastClickTime[]> {
  const { params, bind } = createBinder(dialect)
  return {
    text: `SELECT link_id, max(recorded_at) FROM hits WHERE workspace_id = ${bind(workspaceId)}
      AND ${dialect.isInList('link_id', bind(linkIds))} AND ${IS_CLICK} GROUP BY link_id`,
    params,
    read: (rows) => rows.map(([linkId, at]) => [Number(linkId), Number(at)]),
  }
}
