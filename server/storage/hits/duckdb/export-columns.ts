// The columns of an export file, as SQL.

import { DROPPED_START, FORMULA_IN_LINE } from '../../../lib/formats/csv-line.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS, QUERY_COLUMNS } from '../hit-columns.ts'
import type { ExportFormat } from '../hit-engine.ts'
import { quoteLiteral } from './values.ts'

/** Texts that visitors, or the people who make links, may have chosen. */
const { linkId: _link, class: _class, trigger: _trigger, ...FREE_TEXT_COLUMNS } = QUERY_COLUMNS
const TEXT_COLUMNS = { slug: 'slug', domain: 'domain', ...FREE_TEXT_COLUMNS }

const [FORMULA, DROPPED] = [quoteLiteral(FORMULA_IN_LINE), quoteLiteral(DROPPED_START)]

/** As `toInertCell`. No `IN`: a list of six values becomes a hash join, and sixteen of those took 100 MB. */
const toInertText = (column: string) =>
  `CASE WHEN regexp_matches(${column}, ${FORMULA}) OR regexp_matches(${column}, ${DROPPED})
    THEN regexp_replace(regexp_replace(${column}, ${FORMULA}, '\\1''\\2', 'g'), ${DROPPED}, '''\\1') ELSE ${column} END`

export function toExportColumns(format: ExportFormat): string {
  const time =
    format === 'parquet'
      ? "epoch_ms(recorded_at) AT TIME ZONE 'UTC'"
      : "strftime(epoch_ms(recorded_at), '%Y-%m-%dT%H:%M:%S.%gZ')"
  const toText = (column: string) => (format === 'csv' ? toInertText(column) : column)
  const toTextSql = (name: keyof typeof TEXT_COLUMNS) => `${toText(TEXT_COLUMNS[name])} AS "${name}"`
  const [slug, domain, ...others] = (Object.keys(TEXT_COLUMNS) as (keyof typeof TEXT_COLUMNS)[]).map(
    toTextSql,
  )
  return [
    'hits.id AS "id"',
    `${time} AS "time"`,
    'hits.link_id AS "linkId"',
    slug,
    domain,
    'class AS "class"',
    'trigger AS "trigger"',
    ...others,
    // The letter in front: a spreadsheet would round a number, and so mix up visitors.
    `CASE WHEN visitor <> 0 THEN 'v' || lpad(lower(to_hex(visitor)), 16, '0') END AS "visitor"`,
    // The newest columns come last, so that the others keep their places.
    `${toText('source')} AS "source"`,
    'channel AS "channel"',
    'import_id IS NOT NULL AS "imported"',
  ].join(', ')
}

/** Columns that only this server understands. */
const LOCAL_FIELDS: ReadonlySet<string> = new Set(['workspaceId', 'importId'] satisfies (keyof Hit)[])

/** All fields of a hit that another server can use. The visitor is a text, because JSON's numbers have 53 bits. */
export const HISTORY_COLUMNS = (Object.keys(HIT_COLUMNS) as (keyof Hit)[])
  .filter((field) => !LOCAL_FIELDS.has(field))
  .map((field) => `hits.${HIT_COLUMNS[field]}${field === 'visitor' ? '::VARCHAR' : ''} AS "${field}"`)
  .join(', ')
