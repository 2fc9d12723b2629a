// The statements that sum a day in ClickHouse, and the name of their rules: sums made by other rules do not count.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { SqlValue } from '../../../filter-sql.ts'
import { toOriginExpression } from '../../../sources/origin-sql.ts'
import {
  listDayStatements,
  listMonthStatements,
  ROLLED_HITS,
  type RollUpStatement,
  toMixedStatement,
  toSourceColumns,
} from '../../rollups/roll-sql.ts'
import { clickHouseDialect } from '../dialect.ts'

export interface DaySums {
  statements: RollUpStatement[]
  /** The bound values of every statement. */
  params: SqlValue[]
}

/** The condition of the hits of these days: by the key of the table, and by its months. `end` is exclusive. */
export const toDayCondition = ({ start, end }: { start: number; end: number }): string =>
  `intDiv(recorded_at, ${DAY_MS}) >= ${start} AND intDiv(recorded_at, ${DAY_MS}) < ${end}
   AND recorded_at >= ${start * DAY_MS} AND recorded_at < ${end * DAY_MS}`

/**
 * The sums of several days at once. The statements are those of one day, in which a workspace on a day stands for a
 * workspace: `fromWorkspaceDay` takes them apart.
 */
export function toDaySums(span: { start: number; end: number }): DaySums {
  const params: SqlValue[] = []
  const bind = (value: SqlValue) => clickHouseDialect.placeholder(params.push(value), value)
  const columns = toSourceColumns((slotMs) => `intDiv(recorded_at % ${DAY_MS}, ${slotMs})`)
  const source = toOriginExpression('source', clickHouseDialect, bind)
  const channel = toOriginExpression('channel', clickHouseDialect, bind)
  const hits = `(SELECT ${columns}, ${source} AS source, ${channel} AS channel
    FROM (SELECT * REPLACE (${WORKSPACE_DAY} AS workspace_id) FROM hits WHERE ${toDayCondition(span)} AND ${ROLLED_HITS}))`
  return { statements: listDayStatements(hits, 0), params }
}

/** Workspaces have small numbers. */
const WORKSPACES = 2 ** 40
const WORKSPACE_DAY = `workspace_id + intDiv(recorded_at, ${DAY_MS}) * ${WORKSPACES}`
export const fromWorkspaceDay = (select: string): string =>
  `SELECT * REPLACE (workspace_id % ${WORKSPACES} AS workspace_id, intDiv(workspace_id, ${WORKSPACES}) AS day) FROM (${select})`

/** The same text for the same rules: a release that names sources differently, or sums differently, has another one. */
export const RULES = new Bun.CryptoHasher('sha256')
  .update(
    JSON.stringify([toDaySums({ start: 0, end: 1 }), toMixedStatement('day'), listMonthStatements(0, 'day')]),
  )
  .digest('hex')
  .slice(0, 16)
