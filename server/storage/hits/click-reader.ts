// The questions that an engine answers with one statement each, the same in every engine.

import type { FilterDialect, Statement } from '../filter-sql.ts'
import { toClickPageSql, toRecentClicksSql } from './click-list-sql.ts'
import type { SpanDialect } from './hit-dialect.ts'
import type { HitEngine } from './hit-engine.ts'
import { toLastClicksSql, toLastClickTimesSql } from './last-clicks-sql.ts'

export type ClickReader = Pick<
  HitEngine,
  'findLastClicks' | 'findLastClickTimes' | 'readClicks' | 'listRecentClicks'
>

/** @param run runs a statement in the workspace's turn */
export const createClickReader = (
  dialect: FilterDialect & SpanDialect,
  run: <Answer>(workspaceId: number, statement: Statement<Answer>) => Promise<Answer>,
): ClickReader => ({
  findLastClicks: async (query) =>
    query.moments.length === 0 ? [] : run(query.workspaceId, toLastClicksSql(query, dialect)),
  findLastClickTimes: async (workspaceId, linkIds) =>
    linkIds.length === 0 ? [] : run(workspaceId, toLastClickTimesSql(workspaceId, linkIds, dialect)),
  readClicks: (query) => run(query.workspaceId, toClickPageSql(query, dialect)),
  listRecentClicks: (query) => run(query.workspaceId, toRecentClicksSql(query, dialect)),
})
