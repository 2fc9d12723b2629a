// Writes the file of an export. Clicks are sorted and written slice by slice, so that many clicks need no more memory than
// few. DuckDB writes the files of every hit engine, which are therefore the same, byte for byte.

import { open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { unavailable } from '../../../lib/failure.ts'
import type { SqlValue, ValueBinder } from '../../filter-sql.ts'
import { ORIGIN_DIMENSIONS, toOriginSql } from '../../sources/origin-sql.ts'
import type { StatementRunner } from '../click-exporter.ts'
import type { HitDialect } from '../hit-dialect.ts'
import type { ExportedFile, ExportFormat, HitExport } from '../hit-engine.ts'
import { toSelectionSql } from '../hit-sql.ts'
import { duckDbDialect } from './dialect.ts'
import { HISTORY_COLUMNS, toExportColumns } from './export-columns.ts'
import { appendFile, mergeParquet, ROW_GROUP } from './export-files.ts'
import { splitIntoSlices, type TimeSlice } from './time-slices.ts'
import { quoteLiteral, toDuckDbType, toDuckDbValue } from './values.ts'

/** Sorting this many hits takes about 20 MB and a quarter of a second. */
const SLICE_HITS = 20_000
/** An export must leave room on the disk for the spool: for four of its segments. */
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
  /** The dialect of the engine that has the hits. */
  dialect: HitDialect
  /** Asks that engine. */
  count(text: string, params: SqlValue[]): Promise<readonly (readonly unknown[])[]>
  /**
   * Runs `write` when it is its turn and DuckDB can read the hits of the slice.
   * @param write takes what makes a subquery with these hits, in brackets
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
    if (request.format !== 'history') await run(() => createLinkNamesTable(connection, request.links))
    const slices = await planSlices(needs)
    const path = join(request.dir, `clicks.${request.format}`)
    if (request.format === 'parquet') {
      const parts = await writeParts(needs, slices)
      await run(() => mergeParquet(parts, path, signal))
      for (const part of parts) await rm(part)
    } else await writeTextFile(needs, slices, path)
    return { path, bytes: (await stat(path)).size }
  } catch (error) {
    // An interrupted statement only says that it was interrupted. The signal knows the reason.
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

function createBinder(dialect: HitDialect) {
  const params: SqlValue[] = []
  return { params, bind: (value: SqlValue) => dialect.placeholder(params.push(value), value) }
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
        : toClickSelect(request.format, toOriginSql(table, ORIGIN_DIMENSIONS, duckDbDialect, bind))
    const options = COPY_OPTIONS[request.format](isFirst)
    const text = `COPY (${select} ORDER BY recorded_at, hits.id, node) TO ${quoteLiteral(path)} (${options})`
    await connection.run(text, params.map(toDuckDbValue), params.map(toDuckDbType))
  })
}

const toClickSelect = (format: ExportFormat, origins: string) =>
  `SELECT ${toExportColumns(format)} FROM ${origins} AS hits LEFT JOIN link_names ON link_names.id = hits.link_id`

async function requireDiskSpace(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize < DISK_RESERVE_BYTES) throw unavailable('Too little room on the disk for an export')
}
