// The parts of SQL that DuckDB writes differently from other hit engines.

import { toLastLabelsPattern } from '../../sources/origin-sql.ts'
import { QUERY_COLUMNS } from '../hit-columns.ts'
import type { HitJoinDialect, SpanDialect } from '../hit-dialect.ts'
import { toStoredExpression } from './layout.ts'

const COUNTED_COLUMNS = 'workspace_id, link_id, recorded_at, outcome, class, visitor, import_id'

export const duckDbDialect: HitJoinDialect & SpanDialect = {
  placeholder: (n, value) =>
    `$${n}${Array.isArray(value) ? '' : typeof value === 'number' ? '::BIGINT' : '::VARCHAR'}`,
  countVisitors: 'count(DISTINCT visitor) - coalesce(CAST(min(visitor) = 0 AS BIGINT), 0)',
  isInList: (column, list) => `${column} IN (SELECT unnest(${list}))`,
  lower: (column) => `lower(${column})`,
  listTable: (list) => `(SELECT unnest(${list}) AS value)`,
  lastLabels: (host, count) => `regexp_extract(${host}, '${toLastLabelsPattern(count)}')`,
  pairs: (linkIds, slots) => `(SELECT unnest(${linkIds}) AS link_id, unnest(${slots}) AS slot)`,
  countedHits: `(SELECT ${COUNTED_COLUMNS} FROM hits_arrived UNION ALL SELECT ${COUNTED_COLUMNS} FROM hits_sorted) AS hits`,
  storedAs: (column) => toStoredExpression(QUERY_COLUMNS[column]),
  paramValue: (name, bind) => `json_extract_string(params, ${bind(`$."${name}"`)})`,
  spans: (visitors, sinces, untils, spans) =>
    `(SELECT TRY_CAST(unnest(${visitors}) AS UBIGINT) AS visitor, unnest(${sinces}) AS since, unnest(${untils}) AS until,
      unnest(${spans}) AS span)`,
  newest: (columns) => `unnest(max({${columns.map((column) => `'${column}': ${column}`).join(', ')}}))`,
}
