// Attribution models: the credit for a lead goes to its first touch, its last touch, or each touch in equal parts. Each
// query chooses its model. A lead is a submission that is neither a duplicate nor spam.

import type { ValueBinder } from '../../storage/filter-sql.ts'
import type { TimeRange } from './timeline.ts'

export const ATTRIBUTION_MODELS = ['first', 'last', 'linear'] as const
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number]

/** Represents no link, as in a hit. Ids of links begin at 1. */
export const NO_LINK = 0

/**
 * Leads are counted in millionths. Two of three touches get 333,333 and one gets 333,334: the parts always add up to
 * one lead, so sums stay exact.
 */
export const PARTS_PER_LEAD = 1_000_000

/** Columns of the submission, the same for every touch. */
const LEAD_COLUMNS = [
  'id',
  'status',
  'email',
  'created_at',
  'attribution_due',
  'visitor',
  'page_url',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'city',
] as const
/** Columns of the touch that gets the credit. */
const TOUCH_COLUMNS = [
  'link_id',
  'referrer',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
] as const

const TOUCH_CONDITION: Record<AttributionModel, string> = {
  first: 'touches.position = 0',
  last: 'touches.position = touches.touches - 1',
  linear: 'true',
}

const PART_SQL: Record<AttributionModel, string> = {
  first: `${PARTS_PER_LEAD}`,
  last: `${PARTS_PER_LEAD}`,
  // The credit of all touches up to this one, minus the credit of the touches before it. The product needs 64 bits.
  linear: `CASE WHEN touches.position IS NULL THEN ${PARTS_PER_LEAD}
    ELSE CAST(touches.position + 1 AS bigint) * ${PARTS_PER_LEAD} / touches.touches
      - CAST(touches.position AS bigint) * ${PARTS_PER_LEAD} / touches.touches END`,
}

/**
 * SQL with a row for each touch that gets credit, and its `part` of the lead. Submissions from before the `touches`
 * table have no touches: the submission itself is then the only touch.
 */
export const toCreditedLeadsSql = (
  { workspaceId, start, end }: TimeRange & { workspaceId: number },
  model: AttributionModel,
  bind: ValueBinder,
): string =>
  toCreditedSql(model, bind(workspaceId), {
    from: 'submissions',
    columns: [],
    owner: 'submissions.workspace_id',
    condition: `submissions.created_at >= ${bind(start)} AND submissions.created_at < ${bind(end)}`,
  })

/** The same for outcomes of leads: a row for each outcome and touch. */
export const toCreditedOutcomesSql = (
  workspaceId: number,
  model: AttributionModel,
  toCondition: (id: string) => string,
  bind: ValueBinder,
): string =>
  toCreditedSql(model, bind(workspaceId), {
    from: 'outcomes JOIN submissions ON submissions.id = outcomes.submission_id',
    columns: ['outcomes.id AS outcome_id', 'coalesce(touches.touches, 1) AS touches'],
    owner: '+submissions.workspace_id',
    condition: toCondition('outcomes.id'),
  })

interface CreditedSource {
  from: string
  columns: string[]
  /** A plus in front keeps SQLite from reading an index of the whole workspace in place of the few rows. */
  owner: string
  condition: string
}

function toCreditedSql(
  model: AttributionModel,
  workspace: string,
  { from, columns, owner, condition }: CreditedSource,
): string {
  const touchColumns = TOUCH_COLUMNS.map(
    (column) =>
      `CASE WHEN touches.position IS NULL THEN submissions.${column} ELSE touches.${column} END AS ${column}`,
  )
  touchColumns.push('touches.variant')
  return `SELECT ${[...LEAD_COLUMNS.map((column) => `submissions.${column}`), ...columns].join(', ')}, forms.form_key,
      ${touchColumns.join(',\n      ')},
      coalesce(touches.position, 0) AS position, touches.at AS touched_at,
      ${PART_SQL[model]} AS part
    FROM ${from}
    JOIN forms ON forms.id = submissions.form_id AND forms.workspace_id = ${workspace}
    LEFT JOIN touches ON touches.submission_id = submissions.id AND touches.workspace_id = ${workspace}
      AND ${TOUCH_CONDITION[model]}
    WHERE ${owner} = ${workspace} AND ${condition}
      AND submissions.duplicate_of IS NULL AND submissions.announced = 1 AND submissions.status <> 'spam'`
}
