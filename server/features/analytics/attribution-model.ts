// Which touch of a lead gets the credit, decided when somebody asks: the first, the last, or each its part. A lead is a
// submission that is neither a duplicate nor spam.

import type { ValueBinder } from '../../storage/filter-sql.ts'
import type { TimeRange } from './timeline.ts'

export const ATTRIBUTION_MODELS = ['first', 'last', 'linear'] as const
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number]

/**
 * A lead is counted in millionths. Of three touches two get 333,333 and one 333,334: the parts of a lead are always one
 * lead, and so whatever is added up stays exact.
 */
export const PARTS_PER_LEAD = 1_000_000

/** What is known of the lead itself, whichever touch gets the credit. */
const LEAD_COLUMNS = [
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
/** What another touch would say otherwise. */
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
  // What the touches up to this one get together, less what those before it get. No integer of 32 bits holds that.
  linear: `CASE WHEN touches.position IS NULL THEN ${PARTS_PER_LEAD}
    ELSE CAST(touches.position + 1 AS bigint) * ${PARTS_PER_LEAD} / touches.touches
      - CAST(touches.position AS bigint) * ${PARTS_PER_LEAD} / touches.touches END`,
}

/**
 * A row for each touch that gets credit, with its `part`. A submission without touches (it is older than they are) is
 * its own and only touch.
 */
export function toCreditedLeadsSql(
  { workspaceId, start, end }: TimeRange & { workspaceId: number },
  model: AttributionModel,
  bind: ValueBinder,
): string {
  const workspace = bind(workspaceId)
  const touched = TOUCH_COLUMNS.map(
    (column) =>
      `CASE WHEN touches.position IS NULL THEN submissions.${column} ELSE touches.${column} END AS ${column}`,
  )
  return `SELECT ${LEAD_COLUMNS.map((column) => `submissions.${column}`).join(', ')}, forms.form_key,
      ${touched.join(',\n      ')},
      ${PART_SQL[model]} AS part
    FROM submissions
    JOIN forms ON forms.id = submissions.form_id AND forms.workspace_id = ${workspace}
    LEFT JOIN touches ON touches.submission_id = submissions.id AND touches.workspace_id = ${workspace}
      AND ${TOUCH_CONDITION[model]}
    WHERE submissions.workspace_id = ${workspace}
      AND submissions.created_at >= ${bind(start)} AND submissions.created_at < ${bind(end)}
      AND submissions.duplicate_of IS NULL AND submissions.status <> 'spam'`
}
