// Finds imports and the outcomes of their rows.

import type { Selectable } from 'kysely'
import { KEY_SCOPES } from '../../../http/key-scope.ts'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { notFound } from '../../../lib/failure.ts'
import { toCsvLine } from '../../../lib/formats/csv-line.ts'
import { cutPage, orderById, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { ImportRows } from '../../../storage/database/tables/transfer-tables.ts'
import { type Actor, hasScopes } from '../../accounts/access/actor.ts'
import {
  ERRORS_LISTED,
  type ImportListQueryInput,
  type ImportResource,
  type ImportRowResource,
  type ImportRowsQueryInput,
  type RowKind,
  type RowOutcome,
} from '../schema.ts'
import { type ImportRow, toImportResource } from './import-row.ts'

type InWorkspace = Pick<Actor, 'workspaceId' | 'scopes'>

/**
 * Hides imports from keys without the needed scopes. The rows of an import of a workspace name forms, submissions, channels and
 * domains, and its undo deletes them, so it needs every scope. Rows of an import of submissions have parts of them.
 */
const selectImports = (connection: Connection, actor: InWorkspace) =>
  connection
    .selectFrom('imports')
    .where('workspace_id', '=', actor.workspaceId)
    .$if(!hasScopes(actor, ...KEY_SCOPES), (imports) => imports.where('source', '<>', 'towpath'))
    .$if(!hasScopes(actor, 'submissions:read', 'submissions:write'), (imports) =>
      imports.where('source', '<>', 'submissions'),
    )

/** @throws Failure `not_found` */
export async function getImport(connection: Connection, actor: InWorkspace, id: number): Promise<ImportRow> {
  const row = await selectImports(connection, actor).selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound('Import')
  return row
}

const IMPORTS = orderById('import id desc')

/** Newest first. @throws Failure `invalid` for a wrong cursor */
export async function listImports(
  { read }: Pick<Database, 'read'>,
  actor: InWorkspace,
  query: ImportListQueryInput,
): Promise<Page<ImportResource>> {
  const { limit, after } = readPageQuery(query, IMPORTS)
  const all = selectImports(read, actor)
  let page = all.selectAll()
  if (after) page = page.where('id', '<', after.id)
  const found = await page
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const { rows, nextCursor } = cutPage(found, limit, IMPORTS)
  const { total } = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const data: ImportResource[] = []
  for (const row of rows) data.push(await toImportResource(read, actor, row, ERRORS_LISTED))
  return { data, nextCursor, total: Number(total) }
}

const ROWS = orderById('import row id')

/** The outcome of each row, in the order of the file. @throws Failure `not_found`, `invalid` */
export async function listImportRows(
  { read }: Pick<Database, 'read'>,
  actor: InWorkspace,
  id: number,
  { outcome, kind, ...query }: ImportRowsQueryInput,
): Promise<Page<ImportRowResource>> {
  const { limit, after } = readPageQuery(query, ROWS)
  const row = await getImport(read, actor, id)
  let all = selectRows(read, actor, row.id)
  if (outcome) all = all.where('outcome', '=', outcome)
  if (kind) all = all.where('kind', '=', kind)
  let page = all.selectAll()
  if (after) page = page.where('id', '>', after.id)
  const found = await page
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  const { rows, nextCursor } = cutPage(found, limit, ROWS)
  const { total } = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { data: rows.map(toRowResource), nextCursor, total: Number(total) }
}

const selectRows = (connection: Connection, actor: InWorkspace, importId: number) =>
  connection
    .selectFrom('import_rows')
    .where('workspace_id', '=', actor.workspaceId)
    .where('import_id', '=', importId)

const toRowResource = (row: Selectable<ImportRows>): ImportRowResource => ({
  id: row.id,
  row: row.row,
  kind: row.kind as RowKind,
  outcome: row.outcome as RowOutcome,
  name: row.name,
  itemId: row.item_id,
  field: row.field,
  value: row.value,
  message: row.message,
})

const ROWS_AT_ONCE = 500

/** All errors as CSV. Each yielded text has a page of errors. */
export async function* exportErrors(
  { read }: Pick<Database, 'read'>,
  actor: InWorkspace,
  id: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield toCsvLine(['row', 'field', 'value', 'message'])
  for (let last = 0; !signal.aborted; ) {
    const rows = await selectRows(read, actor, id)
      .selectAll()
      .where('outcome', '=', 'failed')
      .where('id', '>', last)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    yield rows.map(({ row, field, value, message }) => toCsvLine([row, field, value, message])).join('')
    if (rows.length < ROWS_AT_ONCE) return
    last = rows.at(-1)?.id ?? 0
    // Lets redirects run in between.
    await nextTurn()
  }
}
