// Exports leads as a file, oldest first, one row for each touch with credit. It reads some hundred at a time while the
// file is sent, so memory does not grow with the number of leads.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import { toCsvLine } from '../../lib/formats/csv-line.ts'
import { toIso } from '../../lib/iso-time.ts'
import { queryRaw } from '../../storage/database/raw-query.ts'
import { type LeadContext, loadLinkNamesOrNone, resolveLeadSelection } from './answer-leads.ts'
import { NO_LINK, PARTS_PER_LEAD } from './attribution-model.ts'
import { LEAD_COLUMN_SQL, type LeadColumn, type LeadSelection, toSelectedLeadsSql } from './count-leads.ts'
import {
  type LeadOriginFilter,
  type OriginRow,
  passesOriginFilters,
  splitOriginFilters,
  toOrigin,
} from './lead-origins.ts'
import { listLeadRanges } from './lead-ranges.ts'
import type { LeadExportFormat, LeadExportQuestion } from './leads-schema.ts'
import { loadFormNames } from './names.ts'
import { createRangeSelector } from './narrow-link-filters.ts'
import type { TimeRange } from './timeline.ts'

interface LeadRow extends OriginRow {
  id: number | string
  created_at: number | string
  form_key: string
  status: string
  email: string | null
  link_id: number | string | null
  part: number | string
  [column: string]: number | string | null
}

/** The columns of the file that are columns of a row. */
const ROW_DIMENSIONS = [
  'page',
  'referrer',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'country',
  'region',
  'city',
  'device',
  'browser',
  'os',
] as const satisfies LeadColumn[]
const HEADERS = [
  'submissionId',
  'time',
  'form',
  'formName',
  'status',
  'email',
  'credit',
  'linkId',
  'slug',
  'domain',
  ...ROW_DIMENSIONS,
  'source',
  'channel',
  'variant',
]
type ExportedLead = Record<string, string | number | null>

export interface LeadFile {
  pieces: AsyncGenerator<string>
  range: TimeRange
}

/**
 * The sum of `credit` is the number of leads that `answerLeads` counts.
 * @param signal ends the export early when the caller is gone
 * @throws Failure `invalid` for an empty range, before the first piece
 */
export async function exportLeads(
  needs: LeadContext,
  { workspaceId }: { workspaceId: number },
  { format, ...question }: LeadExportQuestion,
  signal: AbortSignal,
): Promise<LeadFile> {
  const selection = await resolveLeadSelection(needs, { workspaceId }, question)
  await needs.resolvePendingAttribution(workspaceId)
  const { start, end } = selection
  return { pieces: writeLeads(needs, selection, format, signal), range: { start, end } }
}

async function* writeLeads(
  needs: LeadContext,
  selection: LeadSelection,
  format: LeadExportFormat,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (format === 'csv') yield toCsvLine(HEADERS)
  const { stored, origins } = splitOriginFilters(selection.filters)
  const selectRange = createRangeSelector(needs.db, { ...selection, filters: stored })
  for await (const range of listLeadRanges(needs.db, selection)) {
    if (signal.aborted) return
    const leads = await readLeads(needs, await selectRange(range), origins)
    await takeTurn()
    if (leads.length === 0) continue
    yield leads
      .map((lead) =>
        format === 'csv' ? toCsvLine(HEADERS.map((name) => lead[name] ?? null)) : `${JSON.stringify(lead)}\n`,
      )
      .join('')
  }
}

async function readLeads(
  needs: LeadContext,
  selection: LeadSelection,
  origins: LeadOriginFilter[],
): Promise<ExportedLead[]> {
  const all = await queryRaw<LeadRow>(needs.db, (dialect, bind) => {
    const { credited, conditions } = toSelectedLeadsSql(selection, { origins: [] }, dialect, bind)
    return `WITH credited AS (${credited}) SELECT * FROM credited WHERE ${conditions.join(' AND ')}
      ORDER BY created_at, id, position`
  })
  const rows = all.filter((row) => passesOriginFilters(row, origins))
  const linkIds = [...new Set(rows.map(({ link_id: id }) => Number(id ?? NO_LINK)))]
  const formKeys = [...new Set(rows.map(({ form_key: key }) => key))]
  const getLink = await loadLinkNamesOrNone(needs, selection, linkIds)
  const getForm = await loadFormNames(needs, selection, formKeys)
  return rows.map((row) => {
    const { link, slug, domain } = getLink(Number(row.link_id ?? NO_LINK))
    return {
      submissionId: Number(row.id),
      time: toIso(Number(row.created_at)),
      form: row.form_key,
      formName: getForm(row.form_key).name,
      status: row.status,
      email: row.email,
      credit: Number(row.part) / PARTS_PER_LEAD,
      linkId: link,
      slug,
      domain,
      ...Object.fromEntries(ROW_DIMENSIONS.map((name) => [name, row[LEAD_COLUMN_SQL[name]] ?? null])),
      source: toOrigin(row, 'source'),
      channel: toOrigin(row, 'channel'),
      variant: row[LEAD_COLUMN_SQL.variant] ?? null,
    }
  })
}
