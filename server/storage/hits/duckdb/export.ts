// Exports clicks to a file. They are sorted and written slice by slice, so that many clicks need no more memory than
// few. Each statement is short, so that questions find one of the two threads that Bun has for all native work.

import { open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createSerialQueue, type SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { unavailable } from '../../../lib/failure.ts'
import type { SqlValue } from '../../filter-sql.ts'
import { ORIGIN_DIMENSIONS, toOriginSql } from '../../sources/origin-sql.ts'
import type { ExportedFile, ExportFormat, HitExport } from '../hit-engine.ts'
import { toSelectionSql } from '../hit-sql.ts'
import { duckDbDialect } from './dialect.ts'
import { toExportColumns } from './export-columns.ts'
import { appendFile, mergeParquet, ROW_GROUP } from './export-files.ts'
import type { ReadWriteLock } from './read-write-lock.ts'
import { type CountedSlice, splitIntoSlices, type TimeSlice } from './time-slices.ts'
import { quoteLiteral, toDuckDbType, toDuckDbValue } from './values.ts'

/** Sorting this many hits takes about 20 MB and a quarter of a second. */
const SLICE_HITS = 20_000
/** An export must leave room on the disk for the spool: for four of its segments. */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024
const COPY_BYTES = 256 * 1024

const COPY_OPTIONS: Record<ExportFormat, (isFirst: boolean) => string> = {
  csv: (isFirst) => `FORMAT csv, HEADER ${isFirst}`,
  ndjson: () => 'FORMAT json',
  parquet: () => `FORMAT parquet, ROW_GROUP_SIZE ${ROW_GROUP}`,
}

export interface ClickExporter {
  /** @throws when `signal` aborts, the exporter is closed, or the disk has too little room */
  run(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /** Ends the exports that run. */
  close(): Promise<void>
}

export function openClickExporter(instance: DuckDBInstance, lock: ReadWriteLock): ClickExporter {
  // All exports together run one statement at a time: the other thread is for questions, loads and files.
  const statements = createSerialQueue()
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(request, signal) {
      const either = AbortSignal.any([signal, closing.signal])
      const exporting = exportClicks({ instance, lock, statements }, request, either)
      running.add(exporting)
      try {
        return await exporting
      } finally {
        running.delete(exporting)
      }
    },
    async close() {
      closing.abort(unavailable('The hit engine is closed', 1))
      await Promise.allSettled(running)
    },
  }
}

interface ExportContext {
  instance: DuckDBInstance
  lock: ReadWriteLock
  statements: SerialQueue
}

/** Runs a statement of an export when its turn has come. */
type StatementRunner = <T>(work: () => Promise<T>) => Promise<T>

async function exportClicks(
  { instance, lock, statements }: ExportContext,
  request: HitExport,
  signal: AbortSignal,
): Promise<ExportedFile> {
  const connection = await instance.connect()
  const interrupt = () => connection.interrupt()
  signal.addEventListener('abort', interrupt)
  const run: StatementRunner = (work) =>
    statements(async () => {
      signal.throwIfAborted()
      return work()
    })
  const read: StatementRunner = (work) => run(() => lock.shared(work))
  try {
    await run(() => createLinkNamesTable(connection, request.links))
    const slices = await planSlices(connection, request, read)
    const path = join(request.dir, `clicks.${request.format}`)
    if (request.format === 'parquet') {
      const parts = await writeParts(connection, request, slices, read)
      await run(() => mergeParquet(parts, path, signal))
      for (const part of parts) await rm(part)
    } else await writeTextFile(connection, request, slices, path, read)
    return { path, bytes: (await stat(path)).size }
  } catch (error) {
    // An interrupted statement only says that it was interrupted. The signal knows the reason.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', interrupt)
    connection.closeSync()
  }
}

/** A temporary table, which only this connection sees. */
const createLinkNamesTable = (connection: DuckDBConnection, path: string) =>
  connection.run(`CREATE OR REPLACE TEMP TABLE link_names AS SELECT * FROM read_json(${quoteLiteral(path)},
    format = 'newline_delimited', columns = {id: 'BIGINT', slug: 'VARCHAR', domain: 'VARCHAR'})`)

/** Plans at least one slice, so that a file without clicks still has its columns. */
async function planSlices(
  connection: DuckDBConnection,
  { selection }: HitExport,
  read: StatementRunner,
): Promise<TimeSlice[]> {
  const count = (range: TimeSlice, width: number) =>
    read(async (): Promise<CountedSlice[]> => {
      const { params, bind } = createBinder()
      const bucket = `(recorded_at - ${bind(range.start)}) // ${bind(width)}`
      const where = toSelectionSql({ ...selection, ...range }, duckDbDialect, bind)
      const result = await connection.runAndReadAll(
        `SELECT ${bucket} AS bucket, count(*) FROM hits WHERE ${where} GROUP BY bucket ORDER BY bucket`,
        params.map(toDuckDbValue),
        params.map(toDuckDbType),
      )
      return result.getRows().map(([number, hits]) => {
        const start = range.start + Number(number) * width
        return { start, end: Math.min(start + width, range.end), hits: Number(hits) }
      })
    })
  const slices = await splitIntoSlices(selection, SLICE_HITS, count)
  return slices.length > 0 ? slices : [{ start: selection.start, end: selection.start }]
}

function createBinder() {
  const params: SqlValue[] = []
  return { params, bind: (value: SqlValue) => duckDbDialect.placeholder(params.push(value), value) }
}

/** @returns the paths of the parts, one for each slice */
async function writeParts(
  connection: DuckDBConnection,
  request: HitExport,
  slices: TimeSlice[],
  read: StatementRunner,
): Promise<string[]> {
  const parts: string[] = []
  for (const slice of slices) {
    const part = join(request.dir, `${parts.length}.part`)
    await read(() => writePart(connection, request, slice, part, false))
    parts.push(part)
  }
  return parts
}

/** Writes the slices one after the other to one file. */
async function writeTextFile(
  connection: DuckDBConnection,
  request: HitExport,
  slices: TimeSlice[],
  path: string,
  read: StatementRunner,
) {
  const part = join(request.dir, 'part')
  const buffer = Buffer.alloc(COPY_BYTES)
  const file = await open(path, 'wx', 0o600)
  try {
    for (const [index, slice] of slices.entries()) {
      await read(() => writePart(connection, request, slice, part, index === 0))
      await appendFile(file, part, buffer)
      await rm(part)
    }
  } finally {
    await file.close()
  }
}

/** @param isFirst the part gets the header of a CSV file */
async function writePart(
  connection: DuckDBConnection,
  { selection, format, dir }: HitExport,
  slice: TimeSlice,
  path: string,
  isFirst: boolean,
) {
  await requireDiskSpace(dir)
  const { params, bind } = createBinder()
  const where = toSelectionSql({ ...selection, ...slice }, duckDbDialect, bind)
  const selected = `(SELECT * FROM hits WHERE ${where})`
  const origins = toOriginSql(selected, ORIGIN_DIMENSIONS, duckDbDialect, bind)
  const select = `SELECT ${toExportColumns(format)} FROM ${origins} AS hits
    LEFT JOIN link_names ON link_names.id = hits.link_id ORDER BY recorded_at, hits.id`
  const text = `COPY (${select}) TO ${quoteLiteral(path)} (${COPY_OPTIONS[format](isFirst)})`
  await connection.run(text, params.map(toDuckDbValue), params.map(toDuckDbType))
}

async function requireDiskSpace(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize < DISK_RESERVE_BYTES) throw unavailable('Too little room on the disk for an export')
}
