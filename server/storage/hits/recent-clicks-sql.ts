// Builds the SQL statement that lists the newest clicks of people in a range.

import { createBinder, type FilterDialect, type Statement } from '../filter-sql.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { IS_CLICK } from './hit-day.ts'
import { RECENT_CLICK_FIELDS, type RecentClick, type RecentClicksQuery } from './hit-engine.ts'

const COLUMNS = ['recorded_at', 'link_id', ...RECENT_CLICK_FIELDS.map((field) => HIT_COLUMNS[field])]

export function toRecentClicksSql(
  { workspaceId, start, end, limit }: RecentClicksQuery,
  dialect: Pick<FilterDialect, 'placeholder'>,
): Statement<RecentClick[]> {
  const { params, bind } = createBinder(dialect)
  return {
    text: `SELECT ${COLUMNS.join(', ')} FROM hits WHERE workspace_id = ${bind(workspaceId)}
      AND recorded_at >= ${bind(start)} AND recorded_at < ${bind(end)} AND ${IS_CLICK} AND import_id IS NULL
      ORDER BY recorded_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
    params,
    read: (rows) =>
      rows.map(([at, linkId, ...values]) => ({
        at: Number(at),
        linkId: Number(linkId),
        ...Object.fromEntries(RECENT_CLICK_FIELDS.map((field, i) => [field, values[i] ?? null])),
      })) as RecentClick[],
  }
}
