// Writes the file of an export. Clicks are sorted and written in slices, so that memory does not depend on their number. DuckDB
// writes the files for every hit engine, so they are the same, byte for byte.

import { type FileHandle, open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { unavailable } from '../../../lib/failure.ts'
import { DROPPED_START, FORMULA_IN_LINE, NUMBER_CELL } from '../../../lib/formats/csv-line.ts'
import { createBinder, type SqlValue, type ValueBinder } from '../../filter-sql.ts'
import { ORIGIN_DIMENSIONS, toKnownSelect, toOriginSelect } from '../../sources/origin-sql.ts'
import type { StatementRunner } from '../click-exporter.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS, QUERY_COLUMNS } from '../hit-columns.ts'
import type { HitDialect } from '../hit-dialect.ts'
import type { ClickExport, ExportedFile, HitExport } from '../hit-engine.ts'
import { toSelectionSql } from '../hit-sql.ts'
import { toParamColumn } from '../kept-params.ts'
import { duckDbDialect } from './dialect.ts'
import { createMemoryInstance } from './memory-instance.ts'
import { splitIntoSlices, type TimeSlice } from './time-slices.ts'
import { quoteLiteral, toDuckDbType, toDuckDbValue } from './values.ts'

/** Sorting this many hits takes about 20 MB and a quarter of a second. */
const SLICE_HITS = 20_000
/** An export must leave this space on the disk for the spool: four segments. */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024
const COPY_BYTES = 256 * 1024

const COPY_OPTIONS: Record<HitExport['format'], (isFirst: boolean) => string> = {
  csv: (isFirst) => `FORMAT csv, HEADER ${isFirst}`,
  ndjson: () => 'FORMAT json',
  history: () => 'FORMAT json',
  parquet: () => `FORMAT parquet, ROW_GROUP_SIZE ${ROW_GROUP}`,
}

interface ClickWriterNeeds {
  /** A connection of this export alone. */
  connection: DuckDBConnection
  request: HitExport
  signal: AbortSignal
  run: StatementRunner
  /** The dialect of the engine with the hits. */
  dialect: HitDialect
  /** Asks that engine. */
  count(text: string, params: SqlValue[]): Promise<readonly (readonly unknown[])[]>
  /**
   * Runs `write` in its turn, when DuckDB can read the hits of the slice.
   * @param write gets the text of a subquery with these hits, in brackets
   */
  withSlice(
    slice: TimeSlice,
    write: (toTableSql: (bind: ValueBinder) => string) => Promise<void>,
  ): Promise<void>
}

export async function writeClicks(needs: ClickWriterNeeds): Promise<ExportedFile> {
  const { connection, request, signal, run } = needs
  const interrupt = () => connection.interrupt()
  signal.addEventListener('abort', interrupt)
  try {
    if (request.format !== 'history') {
      await run(() => createLinkNamesTable(connection, request.links))
      await createKnownTables(connection, run)
    }
    const slices = await planSlices(needs)
    const path = join(request.dir, `clicks.${request.format}`)
    if (request.format === 'parquet') {
      const parts = await writeParts(needs, slices)
      await run(() => mergeParquet(parts, path, signal))
      for (const part of parts) await rm(part)
    } else await writeTextFile(needs, slices, path)
    return { path, bytes: (await stat(path)).size }
  } catch (error) {
    // The error of an interrupted statement has no reason. The signal has it.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', interrupt)
  }
}

/** A temporary table, which only this connection sees. */
const createLinkNamesTable = (connection: DuckDBConnection, path: string) =>
  connection.run(`CREATE OR REPLACE TEMP TABLE link_names AS SELECT * FROM read_json(${quoteLiteral(path)},
    format = 'newline_delimited', columns = {id: 'BIGINT', slug: 'VARCHAR', domain: 'VARCHAR'})`)

/** Temporary tables of the known sources. As bound lists in each statement, they took 100 MB. */
async function createKnownTables(connection: DuckDBConnection, run: StatementRunner): Promise<void> {
  const { names } = toOriginSelect('hits', ORIGIN_DIMENSIONS, duckDbDialect, String)
  for (const name of names) {
    const { params, bind } = createBinder(duckDbDialect)
    const text = `CREATE OR REPLACE TEMP TABLE ${name} AS ${toKnownSelect(name, duckDbDialect, bind)}`
    await run(() => connection.run(text, params.map(toDuckDbValue), params.map(toDuckDbType)))
  }
}

/** Plans at least one slice, so that a file without clicks still has its columns. */
async function planSlices({ request, dialect, count }: ClickWriterNeeds): Promise<TimeSlice[]> {
  const { selection } = request
  const slices = await splitIntoSlices(selection, SLICE_HITS, async (range, width) => {
    const { params, bind } = createBinder(dialect)
    const start = `recorded_at - (recorded_at - ${bind(range.start)}) % ${bind(width)}`
    const where = toSelectionSql({ ...selection, ...range }, dialect, bind)
    const text = `SELECT ${start} AS start, count(*) FROM hits WHERE ${where} GROUP BY start ORDER BY start`
    return (await count(text, params)).map((row) => {
      const [start, hits] = row.map(Number) as [number, number]
      return { start, end: Math.min(start + width, range.end), hits }
    })
  })
  return slices.length > 0 ? slices : [{ start: selection.start, end: selection.start }]
}

/** @returns the paths of the parts, one for each slice */
async function writeParts(needs: ClickWriterNeeds, slices: TimeSlice[]): Promise<string[]> {
  const parts: string[] = []
  for (const slice of slices) {
    const part = join(needs.request.dir, `${parts.length}.part`)
    await writePart(needs, slice, part, false)
    parts.push(part)
  }
  return parts
}

/** Writes the slices one after the other to one file. */
async function writeTextFile(needs: ClickWriterNeeds, slices: TimeSlice[], path: string) {
  const part = join(needs.request.dir, 'part')
  const buffer = Buffer.alloc(COPY_BYTES)
  const file = await open(path, 'wx', 0o600)
  try {
    for (const [index, slice] of slices.entries()) {
      await writePart(needs, slice, part, index === 0)
      await appendFile(file, part, buffer)
      await rm(part)
    }
  } finally {
    await file.close()
  }
}

/** @param isFirst the part gets the header of a CSV file */
async function writePart(
  { connection, request, withSlice }: ClickWriterNeeds,
  slice: TimeSlice,
  path: string,
  isFirst: boolean,
) {
  await requireDiskSpace(request.dir)
  await withSlice(slice, async (toTableSql) => {
    const { params, bind } = createBinder(duckDbDialect)
    const table = toTableSql(bind)
    const select =
      request.format === 'history'
        ? `SELECT ${HISTORY_COLUMNS} FROM ${table} AS hits`
        : toClickSelect(request, toOriginSelect(table, ORIGIN_DIMENSIONS, duckDbDialect, bind).select)
    const options = COPY_OPTIONS[request.format](isFirst)
    const text = `COPY (${select} ORDER BY recorded_at, hits.id, node) TO ${quoteLiteral(path)} (${options})`
    await connection.run(text, params.map(toDuckDbValue), params.map(toDuckDbType))
  })
}

/** Texts that visitors or authors of links may have chosen. */
const {
  linkId: _link,
  class: _class,
  trigger: _trigger,
  variant: _variant,
  ...FREE_TEXT_COLUMNS
} = QUERY_COLUMNS
const TEXT_COLUMNS = { slug: 'slug', domain: 'domain', ...FREE_TEXT_COLUMNS }

const [FORMULA, DROPPED, NUMBER] = [FORMULA_IN_LINE, DROPPED_START, NUMBER_CELL].map(quoteLiteral)

/** As `toInertCell`. No `IN`: a list of six values becomes a hash join, and sixteen of those took 100 MB. */
const toInertText = (column: string) =>
  `CASE WHEN (regexp_matches(${column}, ${FORMULA}) OR regexp_matches(${column}, ${DROPPED}))
    AND NOT regexp_full_match(${column}, ${NUMBER})
    THEN regexp_replace(regexp_replace(${column}, ${FORMULA}, '\\1''\\2', 'g'), ${DROPPED}, '''\\1') ELSE ${column} END`

function toExportColumns({ format, params = [] }: ClickExport): string {
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
    // The letter in front prevents that a spreadsheet rounds the number and so merges visitors.
    `CASE WHEN visitor <> 0 THEN 'v' || lpad(lower(to_hex(visitor)), 16, '0') END AS "visitor"`,
    // The newest columns come last, so that the others keep their positions.
    `${toText('source')} AS "source"`,
    'channel AS "channel"',
    'import_id IS NOT NULL AS "imported"',
    `${toText('variant')} AS "variant"`,
    ...params.map((name) => {
      const value = duckDbDialect.paramValue(name, (path) => quoteLiteral(String(path)))
      return `${toText(value)} AS "${toParamColumn(name)}"`
    }),
  ].join(', ')
}

/** Columns that only this server understands. */
const LOCAL_FIELDS: ReadonlySet<string> = new Set(['workspaceId', 'importId'] satisfies (keyof Hit)[])

/** All fields of a hit that another server can use. The visitor is a text, because JSON's numbers have 53 bits. */
const HISTORY_COLUMNS = (Object.keys(HIT_COLUMNS) as (keyof Hit)[])
  .filter((field) => !LOCAL_FIELDS.has(field))
  .map((field) => `hits.${HIT_COLUMNS[field]}${field === 'visitor' ? '::VARCHAR' : ''} AS "${field}"`)
  .join(', ')

const toClickSelect = (request: ClickExport, origins: string) =>
  `SELECT ${toExportColumns(request)} FROM (${origins}) AS hits LEFT JOIN link_names ON link_names.id = hits.link_id`

async function requireDiskSpace(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize < DISK_RESERVE_BYTES) throw unavailable('Too little room on the disk for an export')
}

/** The memory limit of the separate engine that merges Parquet files. */
const MERGE_MEMORY_MB = 48
/** The number of hits in a row group of a Parquet file. */
const ROW_GROUP = 16_384

/**
 * Appends a file to an open one. It uses one buffer, because a stream allocates a buffer for each piece, which stays until the
 * next garbage collection.
 */
async function appendFile(file: FileHandle, path: string, buffer: Buffer): Promise<void> {
  const source = await open(path)
  try {
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      await file.writeFile(buffer.subarray(0, bytesRead))
    }
  } finally {
    await source.close()
  }
}

/**
 * Merges Parquet files in their order, with a separate engine, because the hit engine does not keep the order of rows
 * (open-file.ts).
 */
async function mergeParquet(parts: string[], path: string, signal: AbortSignal): Promise<void> {
  const instance = await createMemoryInstance(MERGE_MEMORY_MB, `${path}.tmp`)
  const connection = await instance.connect()
  const interrupt = () => connection.interrupt()
  signal.addEventListener('abort', interrupt)
  try {
    await connection.run(`COPY (FROM read_parquet([${parts.map(quoteLiteral)}])) TO ${quoteLiteral(path)}
      (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`)
  } finally {
    signal.removeEventListener('abort', interrupt)
    connection.closeSync()
    instance.closeSync()
  }
}
