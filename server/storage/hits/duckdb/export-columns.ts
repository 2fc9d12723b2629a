// The columns of an export file, as SQL.

import { QUERY_COLUMNS } from '../hit-columns.ts'
import type { ExportFormat } from '../hit-engine.ts'

/** Texts that visitors, or the people who make links, may have chosen. */
const { linkId: _link, class: _class, trigger: _trigger, ...FREE_TEXT_COLUMNS } = QUERY_COLUMNS
const TEXT_COLUMNS = { slug: 'slug', domain: 'domain', ...FREE_TEXT_COLUMNS }

/**
 * A spreadsheet takes a text that begins like this for a formula. With an apostrophe in front it stays a text:
 * https://owasp.org/www-community/attacks/CSV_Injection. No `IN`: a list of six values becomes a hash join, and sixteen
 * of those took 100 MB.
 */
const toInertText = (column: string) =>
  `CASE WHEN regexp_matches(${column}, '^[-=+@\\t\\r]') THEN '''' || ${column} ELSE ${column} END`

export function toExportColumns(format: ExportFormat): string {
  const time =
    format === 'parquet'
      ? "epoch_ms(recorded_at) AT TIME ZONE 'UTC'"
      : "strftime(epoch_ms(recorded_at), '%Y-%m-%dT%H:%M:%S.%gZ')"
  const toTextSql = (name: keyof typeof TEXT_COLUMNS) =>
    `${format === 'csv' ? toInertText(TEXT_COLUMNS[name]) : TEXT_COLUMNS[name]} AS "${name}"`
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
    `'v' || lpad(lower(to_hex(visitor)), 16, '0') AS "visitor"`,
  ].join(', ')
}
