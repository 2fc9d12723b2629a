// Builds the SQL statements that list clicks: pages of a link's clicks in the order in which the engine got them, and the
// newest clicks of a workspace.

import { createBinder, type FilterDialect, type Statement, toAnyOfSql } from '../filter-sql.ts'
import type { Hit } from './hit.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { IS_CLICK } from './hit-day.ts'
import {
  type ClickPage,
  type ClickPageQuery,
  RECENT_CLICK_FIELDS,
  type RecentClick,
  type RecentClicksQuery,
  type StoredClick,
} from './hit-engine.ts'

/** The fields of a row after its node, in order. */
const FIELDS = Object.keys(HIT_COLUMNS) as (keyof Hit)[]
const NUMBERS: ReadonlySet<keyof Hit> = new Set(['id', 'at', 'workspaceId', 'linkId', 'importId'])

/**
 * A node's batches are loaded in order, and the ids of its hits ascend with them. So a late hit has a higher id than all hits
 * of its node that were read before, whatever its time is. Imported hits have no such order.
 */
export function toClickPageSql(
  { workspaceId, linkId, classes, after, limit }: ClickPageQuery,
  dialect: FilterDialect,
): Statement<ClickPage> {
  const { params, bind } = createBinder(dialect)
  const conditions = [
    `workspace_id = ${bind(workspaceId)}`,
    `link_id = ${bind(linkId)}`,
    `outcome = ${bind('redirect')}`,
    toAnyOfSql('class', classes, dialect, bind),
    'import_id IS NULL',
  ]
  if (after === 'latest') {
    const text = `SELECT node, max(id) FROM hits WHERE ${conditions.join(' AND ')} GROUP BY node`
    return { text, params, read: (rows) => ({ clicks: [], position: toPosition(rows) }) }
  }
  const nodes = Object.keys(after)
  if (nodes.length > 0) {
    const known = nodes.map((node) => `(node = ${bind(node)} AND id > ${bind(after[node] as number)})`)
    const isNew = `NOT (${toAnyOfSql('node', nodes, dialect, bind)})`
    conditions.push(`(${[...known, isNew].join(' OR ')})`)
  }
  return {
    text: `SELECT node, ${FIELDS.map((field) => HIT_COLUMNS[field]).join(', ')} FROM hits
      WHERE ${conditions.join(' AND ')} ORDER BY node, id LIMIT ${bind(limit)}`,
    params,
    read(rows) {
      const clicks = rows.map(toClick)
      return { clicks, position: { ...after, ...toPosition(clicks.map(({ node, id }) => [node, id])) } }
    },
  }
}

/** Rows are in the order of their ids. */
const toPosition = (rows: readonly (readonly unknown[])[]) =>
  Object.fromEntries(rows.map(([node, id]) => [String(node), Number(id)]))

function toClick([node, ...values]: readonly unknown[]): StoredClick {
  const fields = FIELDS.map((field, i) => {
    const value = values[i] ?? null
    if (value === null) return [field, null]
    return [field, NUMBERS.has(field) ? Number(value) : String(value)]
  })
  return { ...Object.fromEntries(fields), node: String(node) }
}

/** The row of a recent click. */
const RECENT_COLUMNS = ['recorded_at', 'link_id', ...RECENT_CLICK_FIELDS.map((field) => HIT_COLUMNS[field])]

/** Builds the SQL statement that lists the newest clicks of people in a range. */
export function toRecentClicksSql(
  { workspaceId, start, end, limit }: RecentClicksQuery,
  dialect: FilterDialect,
): Statement<RecentClick[]> {
  const { params, bind } = createBinder(dialect)
  return {
    text: `SELECT ${RECENT_COLUMNS.join(', ')} FROM hits WHERE workspace_id = ${bind(workspaceId)}
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
