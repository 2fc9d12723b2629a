// Exports outcomes: as a table, and as the file that Google Ads takes for conversions from clicks
// (https://support.google.com/google-ads/answer/7014069). That file has no other columns and nothing personal.

import { sql } from 'kysely'
import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import { toCsvLine } from '../../lib/formats/csv-line.ts'
import { toIso } from '../../lib/iso-time.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { AD_CLICK_ID_NAMES, type AdClickIds } from '../visitors/ad-click-ids.ts'
import { OUTCOME_COLUMNS, type OutcomeRow, selectOutcomes } from './outcome.ts'
import type { GoogleClickId, OutcomeExportOptions, OutcomeSelection } from './schema.ts'

/** On SQLite few, because some columns of a lead lie behind its fields, which can be large. */
const ROWS_AT_ONCE = { sqlite: 50, postgres: 2_000 }

type ExportedRow = OutcomeRow & { email: string | null; click_id: string | null; ad_click_ids: string | null }
type RowReader = (by: OutcomeSelection) => AsyncGenerator<ExportedRow>

/** Yields the lines of the file, oldest outcome first. */
export async function* exportOutcomes(
  { db }: { db: Database },
  actor: Actor,
  { format = 'csv', by, ...options }: OutcomeExportOptions & { by: OutcomeSelection },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const readRows: RowReader = (selection) => scanOutcomes(db, actor, selection, signal)
  yield* format === 'csv' ? writeTable(readRows(by)) : writeGoogleAds(readRows(by), options)
}

async function* scanOutcomes(
  { engine, read }: Database,
  actor: Actor,
  by: OutcomeSelection,
  signal: AbortSignal,
): AsyncGenerator<ExportedRow> {
  const limit = ROWS_AT_ONCE[engine]
  for (let after: { at: number; id: number } | undefined; ; ) {
    signal.throwIfAborted()
    await takeTurn()
    let rows = selectOutcomes(read, actor, by)
    if (after) rows = rows.where(sql<boolean>`(outcomes.at, outcomes.id) > (${after.at}, ${after.id})`)
    const page = await rows
      .select(OUTCOME_COLUMNS)
      .select(['submissions.email', 'submissions.click_id', 'submissions.ad_click_ids'])
      .orderBy('outcomes.at')
      .orderBy('outcomes.id')
      .limit(limit)
      .execute()
    yield* page
    if (page.length < limit) return
    after = page.at(-1)
  }
}

const parseIds = (row: ExportedRow): AdClickIds =>
  row.ad_click_ids === null ? {} : JSON.parse(row.ad_click_ids)

const TABLE_COLUMNS = [
  'id',
  'submissionId',
  'form',
  'linkId',
  'clickId',
  'email',
  'stage',
  'value',
  'currency',
  'at',
  'externalId',
  ...AD_CLICK_ID_NAMES,
]

async function* writeTable(rows: AsyncGenerator<ExportedRow>): AsyncGenerator<string> {
  yield toCsvLine(TABLE_COLUMNS)
  for await (const row of rows) {
    const ids = parseIds(row)
    yield toCsvLine([
      row.id,
      row.submission_id,
      row.form_key,
      row.link_id,
      row.click_id,
      row.email,
      row.stage,
      row.value,
      row.currency,
      toIso(row.at),
      row.external_id,
      ...AD_CLICK_ID_NAMES.map((name) => ids[name] ?? null),
    ])
  }
}

/** Each kind of id has a file of its own: a file has one column for ids, and its name tells the kind. */
const GOOGLE_COLUMNS: Record<GoogleClickId, string> = {
  gclid: 'Google Click ID',
  gbraid: 'GBRAID',
  wbraid: 'WBRAID',
}
/** The names of the goals that Google Ads offers for leads. */
const GOOGLE_CONVERSIONS: Record<string, string> = { qualified: 'Qualified lead', won: 'Converted lead' }

async function* writeGoogleAds(
  rows: AsyncGenerator<ExportedRow>,
  { clickIdType = 'gclid', conversionName }: Omit<OutcomeExportOptions, 'format'>,
): AsyncGenerator<string> {
  // Every time names its zone too. The row is for programs that look for it.
  yield toCsvLine(['Parameters:TimeZone=+0000'])
  yield toCsvLine([
    GOOGLE_COLUMNS[clickIdType],
    'Conversion Name',
    'Conversion Time',
    'Conversion Value',
    'Conversion Currency',
  ])
  for await (const row of rows) {
    const id = parseIds(row)[clickIdType]
    const name = conversionName ?? GOOGLE_CONVERSIONS[row.stage]
    if (id === undefined || name === undefined || row.stage === 'lost') continue
    const currency = row.value === null ? null : row.currency
    yield toCsvLine([id, name, toGoogleTime(row.at), row.value, currency])
  }
}

/** `yyyy-MM-dd HH:mm:ss+0000`: an offset of four digits, without a colon. */
const toGoogleTime = (at: number) => `${toIso(at).slice(0, 19).replace('T', ' ')}+0000`
