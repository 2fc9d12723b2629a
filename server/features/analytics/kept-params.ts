// The query parameters that a workspace keeps, for questions that name some of them.

import { invalid } from '../../lib/failure.ts'
import {
  isParamColumn,
  KEPT_VALUES_A_DAY,
  OTHER_VALUE,
  type ParamColumn,
  toParamName,
} from '../../storage/hits/kept-params.ts'
import type { AnswerContext, WorkspaceScope } from './resolve-selection.ts'

export async function listKeptParams(
  { db }: AnswerContext,
  { workspaceId }: WorkspaceScope,
): Promise<string[]> {
  const workspace = await db.read
    .selectFrom('workspaces')
    .select('kept_params')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  return JSON.parse(workspace?.kept_params ?? '[]')
}

/** @throws Failure `invalid`, where the workspace does not keep one of them */
export async function requireKeptParams(
  needs: AnswerContext,
  scope: WorkspaceScope,
  columns: ParamColumn[],
): Promise<void> {
  const kept = await listKeptParams(needs, scope)
  const unknown = columns.filter((column) => !kept.includes(toParamName(column)))
  if (unknown.length === 0) return
  const names = kept.length === 0 ? 'none' : kept.join(', ')
  throw invalid(
    Object.fromEntries(
      unknown.map((column) => [column, `is not a kept parameter of the workspace (keptParams: ${names})`]),
    ),
  )
}

/** @returns a sentence about the values that the answer has together; undefined where it has none */
export function findOtherNote({
  groupBy,
  data,
}: {
  groupBy: string | undefined
  data: unknown
}): string | undefined {
  if (groupBy === undefined || !isParamColumn(groupBy) || !Array.isArray(data)) return undefined
  if (!data.some((row) => row[groupBy] === OTHER_VALUE)) return undefined
  return `${OTHER_VALUE} is every value after the first ${KEPT_VALUES_A_DAY.toLocaleString('en')} of a day.`
}
