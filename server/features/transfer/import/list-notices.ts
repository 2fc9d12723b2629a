// Notices of an import: facts to know beside the outcome of each row.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { ImportRun } from './import-run.ts'
import { CASE_CONFLICT } from './store-link.ts'

/** On SQLite each step holds up redirects for about a millisecond. */
const ROWS_AT_ONCE = 500

export async function listNotices(run: ImportRun): Promise<string[]> {
  let collisions = 0
  let incomplete = 0
  for await (const { outcome, message } of readMessages(run)) {
    if (message?.includes(CASE_CONFLICT)) collisions++
    else if (outcome === 'created' && message !== null) incomplete++
  }
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
          `${incomplete === 1 ? 'One link was' : `${incomplete} links were`} not taken over whole: the list of rows says what is missing.`,
        ]),
  ]
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
