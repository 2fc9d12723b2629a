// Imports outcomes of leads from a CSV file: each row separately, so that one mistake does not stop the others. A repeated row
// changes its outcome and creates no second one.

import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type OutcomeNeeds, recordOutcome } from '../../outcomes/record-outcomes.ts'
import { CreateOutcome, type CreateOutcomeInput } from '../../outcomes/schema.ts'
import { toPlainName } from '../files/fields.ts'
import { readCsvText } from '../files/open-source-file.ts'
import { readTime } from '../files/read-time.ts'
import type { FileRecord } from '../files/source-file.ts'
import { IMPORTED_OUTCOMES_MAX, type OutcomeImportInput, type OutcomeImportResult } from './schema.ts'

const ERRORS_MAX = 100
/** Rows that are stored at once, because concurrent commits share a sync. More would use the connections of other requests. */
const AT_ONCE = 8
const DAY_MS = 86_400_000

/** The columns of a file, by the member of an outcome. Case, blanks, `_` and `-` do not matter. */
const COLUMN_NAMES = {
  email: ['email', 'emailaddress'],
  value: ['value', 'amount', 'revenue', 'conversionvalue'],
  currency: ['currency', 'conversioncurrency'],
  at: ['at', 'date', 'time', 'closedate', 'conversiontime'],
  stage: ['stage', 'status'],
  externalId: ['externalid', 'orderid'],
} as const
type Column = keyof typeof COLUMN_NAMES
const COLUMNS = Object.keys(COLUMN_NAMES) as Column[]

type Row = { row: number; cells: Partial<Record<Column, string>>; problem: string | undefined }
type RowError = OutcomeImportResult['errors'][number]

/** @throws Failure `invalid` for a file without this table */
export async function importOutcomes(
  needs: OutcomeNeeds,
  actor: Actor,
  input: OutcomeImportInput,
): Promise<OutcomeImportResult> {
  const rows = readRows(input.csv)
  const result = { rows: rows.length, created: 0, changed: 0, failed: 0, errors: [] as RowError[] }
  const occurrences = new Map<string, number>()
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const step = rows.slice(from, from + AT_ONCE).map((row) => {
      const outcome = toOutcome(row, input, occurrences, needs.now())
      return Array.isArray(outcome) ? outcome : store(needs, actor, row.row, outcome)
    })
    for (const done of await Promise.all(step)) {
      if (done === 'created' || done === 'changed') result[done]++
      else {
        result.failed++
        if (result.errors.length < ERRORS_MAX) result.errors.push(...done)
      }
    }
  }
  return result
}

function readRows(csv: string): Row[] {
  const { columns, records } = readCsvText(csv)
  const names = new Map(columns.map((name) => [toPlainName(name), name]))
  const headers = new Map(
    COLUMNS.flatMap((column): [Column, string][] => {
      const plain = COLUMN_NAMES[column].find((name) => names.has(name))
      return plain === undefined ? [] : [[column, names.get(plain) as string]]
    }),
  )
  if (!headers.has('email'))
    throw invalid({
      csv: 'must have a header row with the column email, and optionally value, currency and at',
    })
  if (records.length > IMPORTED_OUTCOMES_MAX)
    throw invalid({ csv: `must be at most ${IMPORTED_OUTCOMES_MAX} rows: split the file` })
  return records.map((record) => toRow(record, headers))
}

const toRow = ({ row, fields, problem }: FileRecord, headers: Map<Column, string>): Row => ({
  row,
  cells: Object.fromEntries(
    [...headers].map(([column, header]) => [column, String(fields.get(header) ?? '').trim()]),
  ),
  problem: problem?.message,
})

/** @returns the outcome, or the mistakes */
function toOutcome(
  { row, cells, problem }: Row,
  { timezone, stage }: OutcomeImportInput,
  occurrences: Map<string, number>,
  now: number,
): CreateOutcomeInput | RowError[] {
  if (problem) return [{ row, field: 'row', message: problem }]
  const at = cells.at ? toMoment(cells.at, timezone ?? 'UTC', now) : undefined
  if (typeof at === 'object') return [{ row, field: 'at', message: at.message }]
  const parsed = CreateOutcome.safeParse({
    email: cells.email ?? '',
    stage: cells.stage?.toLowerCase() || stage || 'won',
    value: cells.value || undefined,
    currency: cells.currency || undefined,
    at: at === undefined ? undefined : new Date(at).toISOString(),
    externalId: cells.externalId || toRowId(cells, occurrences),
  })
  if (parsed.success) return parsed.data
  return parsed.error.issues.map(({ path, message }) => ({ row, field: String(path[0] ?? 'row'), message }))
}

/** Converts a day to its end, so that a lead of the same day comes before it. */
function toMoment(text: string, timeZone: string, now: number): number | { message: string } {
  const at = readTime(text, { dateOrder: null, timeZone })
  if (typeof at !== 'number' || !/^\s*\d{4}-\d\d-\d\d\s*$/.test(text)) return at
  const end = at + DAY_MS - 1
  return at <= now ? Math.min(end, now) : at
}

/** The id of a row without one: a hash of its cells and its rank among equal rows, which are different deals. */
function toRowId(cells: Row['cells'], occurrences: Map<string, number>): string {
  const hash = sha256Hex(JSON.stringify(COLUMNS.map((column) => cells[column]?.toLowerCase() ?? '')))
  const n = (occurrences.get(hash) ?? 0) + 1
  occurrences.set(hash, n)
  return `csv:${hash.slice(0, 32)}${n === 1 ? '' : `:${n}`}`
}

async function store(
  needs: OutcomeNeeds,
  actor: Actor,
  row: number,
  outcome: CreateOutcomeInput,
): Promise<'created' | 'changed' | RowError[]> {
  try {
    return (await recordOutcome(needs, actor, outcome)).created ? 'created' : 'changed'
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable' || !error.detail.errors) throw error
    return Object.entries(error.detail.errors).map(([field, message]) => ({ row, field, message }))
  }
}
