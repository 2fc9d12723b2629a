// The stages `check` and `links` of an import.

import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { allow } from '../../accounts/access/actor.ts'
import { createDryRunNames, type DryRunNames, NO_DRY_RUN_NAMES } from './dry-run-names.ts'
import { findImportRow } from './import-row.ts'
import { confirmCheck, endCheck, endLinks, type ImportRun, updateRun } from './import-run.ts'
import { CASE_CONFLICT } from './store-link.ts'
import { createLinkStorer, storeLinks, tryLinks } from './store-links.ts'
import { refuseConflict } from './store-rows.ts'

/** Reads both files completely, and changes nothing. @throws FileProblem if they cannot be imported */
export async function checkImport(run: ImportRun): Promise<void> {
  const { reader, source, reading: options, file, clicks, row } = run
  const checked = await reader.run('check', { source, options, file, clicks }, () => confirmCheck(run))
  run.options.linksDateOrder = checked.dateOrder
  run.options.clicksDateOrder = checked.clicks?.dateOrder ?? null
  run.options.clickRows = checked.clicks?.rows ?? null
  run.reading = { ...run.reading, dateOrder: checked.dateOrder }
  if (row.on_conflict === 'fail') await requireNoConflict(run)
  await endCheck(run, { rows: checked.items, total: checked.rows })
}

/** With `onConflict: fail`, one taken slug stops the import before any change. @throws FileProblem */
async function requireNoConflict(run: ImportRun): Promise<void> {
  const storer = createLinkStorer(run, createDryRunNames())
  const { source, reading: options, file } = run
  await run.reader.run('links', { source, options, file, skip: 0 }, async ({ readings }) => {
    refuseConflict(await tryLinks(storer, readings), 'Row')
    await nextTurn()
    return null
  })
}

/** Creates the links from the import's position. A dry run begins again, because its state is only in memory. */
export async function importLinks(run: ImportRun): Promise<DryRunNames> {
  const { needs, reader, source, reading: options, file, isDryRun } = run
  if (isDryRun) await deleteDryRunRows(run)
  const taken = isDryRun ? createDryRunNames() : NO_DRY_RUN_NAMES
  const storer = createLinkStorer(run, taken)
  const skip = isDryRun ? 0 : await getPosition(run)
  await reader.run('links', { source, options, file, skip }, async ({ readings }) => {
    await storeLinks(storer, readings)
    // Lets redirects and other writers run between two batches.
    await nextTurn()
    return null
  })
  const notices = await listNotices(run)
  await needs.db.write((connection) => endLinks(connection, run, notices))
  return taken
}

/** On SQLite each step blocks redirects for about a millisecond. */
const ROWS_AT_ONCE = 500

/** Notices of an import: facts in addition to the outcome of each row. */
async function listNotices(run: ImportRun): Promise<string[]> {
  let collisions = 0
  let incomplete = 0
  for await (const { outcome, message } of readMessages(run)) {
    if (message?.includes(CASE_CONFLICT)) collisions++
    else if (outcome === 'created' && message !== null) incomplete++
  }
  const totals = await sumTotals(run)
  return [
    ...(collisions === 0
      ? []
      : [
          `${collisions === 1 ? 'One slug differs' : `${collisions} slugs differ`} from another one only in the case of letters. ` +
            'A domain with case-sensitive slugs keeps both: add one under Domains, undo this import, and choose that domain for it.',
        ]),
    ...(incomplete === 0
      ? []
      : [
          `${incomplete === 1 ? 'One link was' : `${incomplete} links were`} not imported completely: the list of rows says what is missing.`,
        ]),
    ...(totals === 0
      ? []
      : [
          `The file has totals of ${totals.toLocaleString('en-US')} ${totals === 1 ? 'click' : 'clicks'}. They count on the links. Charts have only clicks of a click history.`,
        ]),
  ]
}

async function sumTotals({ needs, row }: ImportRun): Promise<number> {
  const { total } = await needs.db.read
    .selectFrom('import_totals')
    .select((e) => e.fn.coalesce(e.fn.sum<number>('total'), e.lit(0)).as('total'))
    .where('workspace_id', '=', row.workspace_id)
    .where('import_id', '=', row.id)
    .executeTakeFirstOrThrow()
  return Number(total)
}

async function* readMessages({ needs, row }: ImportRun) {
  for (const outcome of ['created', 'renamed', 'skipped']) {
    for (let last = 0; ; ) {
      await takeTurn()
      const rows = await needs.db.read
        .selectFrom('import_rows')
        .select(['id', 'message'])
        .where('workspace_id', '=', row.workspace_id)
        .where('import_id', '=', row.id)
        .where('outcome', '=', outcome)
        .where('id', '>', last)
        .orderBy('id')
        .limit(ROWS_AT_ONCE)
        .execute()
      for (const { message } of rows) yield { outcome, message }
      if (rows.length < ROWS_AT_ONCE) break
      last = rows.at(-1)?.id ?? 0
    }
  }
}

/** Resets a dry run that a stop has interrupted, so that its links begin again. */
export const restartDryRun = (run: ImportRun): Promise<void> =>
  run.needs.db.write((connection) =>
    updateRun(connection, run, 'clicks', {
      stage: 'links',
      clicks: 0,
      total: run.row.rows,
      position: 0,
    }),
  )

export async function deleteDryRunRows(run: ImportRun): Promise<void> {
  allow(run.actor, 'links:write')
  const { id, workspace_id } = run.row
  await run.needs.db.write(async (connection) => {
    await updateRun(connection, run, 'links', { position: 0, created: 0, renamed: 0, skipped: 0, failed: 0 })
    await connection
      .deleteFrom('import_rows')
      .where('workspace_id', '=', workspace_id)
      .where('import_id', '=', id)
      .execute()
  })
}

/** The number of stored records. */
export const getPosition = async ({ needs, row }: ImportRun): Promise<number> =>
  (await findImportRow(needs.db.read, row))?.position ?? 0
