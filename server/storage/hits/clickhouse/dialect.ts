// The parts of SQL that ClickHouse writes differently from other hit engines.

import { toLastLabelsPattern } from '../../sources/origin-sql.ts'
import type { HitLookUpDialect, SpanDialect } from '../hit-dialect.ts'
import { toPlaceholder } from './parameters.ts'

export const clickHouseDialect: HitLookUpDialect & SpanDialect = {
  placeholder: toPlaceholder,
  countVisitors: 'uniqExact(visitor) - max(visitor = 0)',
  isInList: (column, list) => `${column} IN ${list}`,
  lower: (column) => `lowerUTF8(${column})`,
  lookUp: (word, keys, values) => `transform(${word}, ${keys}, ${values}, CAST(NULL, 'Nullable(String)'))`,
  lastLabels: (host, count) => `extract(${host}, '${toLastLabelsPattern(count)}')`,
  pairs: (linkIds, slots) =>
    `(SELECT pair.1 AS link_id, pair.2 AS slot FROM (SELECT arrayJoin(arrayZip(${linkIds}, ${slots})) AS pair))`,
  paramValue(name, bind) {
    const nothing = bind('')
    return `nullIf(JSONExtractString(ifNull(params, ${nothing}), ${bind(name)}), ${nothing})`
  },
  spans: (visitors, sinces, untils, spans) =>
    `(SELECT toUInt64OrNull(t.1) AS visitor, t.2 AS since, t.3 AS until, t.4 AS span
      FROM (SELECT arrayJoin(arrayZip(${visitors}, ${sinces}, ${untils}, ${spans})) AS t))`,
  newest: (columns) => `untuple(max((${columns.join(', ')})))`,
}
