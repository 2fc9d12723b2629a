// Raw clicks as a file: sorted and written slice by slice, so that memory stays the same however many there are, and
// each statement is so short that questions find one of the two threads that Bun has for all native work.

import { type FileHandle, open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { unavailable } from '../../../lib/failure.ts'
import type { ExportedFile, ExportFormat, HitExport } from '../hit-engine.ts'
import { duckDbDialect, QUERY_COLUMNS, type SqlValue, toSelectionSql } from '../hit-sql.ts'
import { createSerialQueue } from './connections.ts'
import type { ReadWriteLock } from './read-write-lock.ts'
import { type CountedSlice, splitIntoSlices, type TimeSlice } from './time-slices.ts'
import { quoteLiteral, toDuckDbType, toDuckDbValue } from './values.ts'

/** Sorting so many takes about 20 MB and a quarter of a second. */
const SLICE_HITS = 20_000
/** An export must not take the disk from the spool: room for four of its segments stays. */
const DISK_RESERVE_BYTES = 64 * 1024 * 1024
/** Parquet is put together from parts by an engine of its own, which never needs more. */
const MERGE_MEMORY_MB = 48
const ROW_GROUP = 16_384
const COPY_BYTES = 256 * 1024

/** Texts that a visitor, or somebody who makes links, may have chosen. */
const { linkId: _link, class: _class, trigger: _trigger, ...FREE_TEXT_COLUMNS } = QUERY_COLUMNS
const TEXT_COLUMNS = { slug: 'slug', domain: 'domain', ...FREE_TEXT_COLUMNS }

/**
 * A spreadsheet takes what begins so for a formula; with an apostrophe in front it is text (OWASP, CSV injection).
 * Not `IN`: six values in a list become a hash join, and sixteen of those took 100 MB.
 */
const toInertText = (column: string) =>
  `CASE WHEN regexp_matches(${column}, '^[-=+@\\t\\r]') THEN '''' || ${column} ELSE ${column} END`

function toExportColumns(format: ExportFormat): string {
  const time =
    format === 'parquet'
      ? "epoch_ms(recorded_at) AT TIME ZONE 'UTC'"
      : "strftime(epoch_ms(recorded_at), '%Y-%m-%dT%H:%M:%S.%gZ')"
  const text = (name: keyof typeof TEXT_COLUMNS) =>
    `${format === 'csv' ? toInertText(TEXT_COLUMNS[name]) : TEXT_COLUMNS[name]} AS "${name}"`
  const [slug, domain, ...others] = (Object.keys(TEXT_COLUMNS) as (keyof typeof TEXT_COLUMNS)[]).map(text)
  return [
    'hits.id AS "id"',
    `${time} AS "time"`,
    'hits.link_id AS "linkId"',
    slug,
    domain,
    'class AS "class"',
    'trigger AS "trigger"',
    ...others,
    // Letters in front, because a spreadsheet would round the number and take it for another visitor's.
    `'v' || lpad(lower(to_hex(visitor)), 16, '0') AS "visitor"`,
  ].join(', ')
}

const COPY_OPTIONS: Record<ExportFormat, (first: boolean) => string> = {
  csv: (first) => `FORMAT csv, HEADER ${first}`,
  ndjson: () => 'FORMAT json',
  parquet: () => `FORMAT parquet, ROW_GROUP_SIZE ${ROW_GROUP}`,
}

export function openClickExporter(instance: DuckDBInstance, gate: ReadWriteLock) {
  /** One statement of all exports at a time: the other thread is for questions, loads and files. */
  const inTurn = createSerialQueue()
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(request: HitExport, signal: AbortSignal): Promise<ExportedFile> {
      const either = AbortSignal.any([signal, closing.signal])
      const export_ = exportClicks({ instance, gate, inTurn }, request, either)
      running.add(export_)
      try {
        return await export_
      } finally {
        running.delete(export_)
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
  gate: ReadWriteLock
  inTurn: ReturnType<typeof createSerialQueue>
}

async function exportClicks(
  { instance, gate, inTurn }: ExportContext,
  request: HitExport,
  signal: AbortSignal,
): Promise<ExportedFile> {
  const connection = await instance.connect()
  const stop = () => connection.interrupt()
  signal.addEventListener('abort', stop)
  const turn = <T>(work: () => Promise<T>) =>
    inTurn(async () => {
      signal.throwIfAborted()
      return work()
    })
  const reading = <T>(work: () => Promise<T>) => turn(() => gate.shared(work))
  try {
    await turn(() => createLinkNamesTable(connection, request.links))
    const slices = await planSlices(connection, request, reading)
    const path = join(request.dir, `clicks.${request.format}`)
    if (request.format === 'parquet') {
      const parts: string[] = []
      for (const slice of slices) {
        const part = join(request.dir, `${parts.length}.part`)
        await reading(() => writePart(connection, request, slice, part, false))
        parts.push(part)
      }
      await turn(() => mergeParquet(parts, path, signal))
      for (const part of parts) await rm(part)
    } else await writeTextFile(connection, request, slices, path, reading)
    return { path, bytes: (await stat(path)).size }
  } catch (error) {
    // An interrupted statement only says that it was; why is what the signal knows.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    connection.closeSync()
  }
}

type Turn = <T>(work: () => Promise<T>) => Promise<T>

/** For this connection alone. */
const createLinkNamesTable = (connection: DuckDBConnection, path: string) =>
  connection.run(`CREATE OR REPLACE TEMP TABLE link_names AS SELECT * FROM read_json(${quoteLiteral(path)},
    format = 'newline_delimited', columns = {id: 'BIGINT', slug: 'VARCHAR', domain: 'VARCHAR'})`)

/** At least one, so that a file without clicks still has its columns. */
async function planSlices(
  connection: DuckDBConnection,
  { selection }: HitExport,
  turn: Turn,
): Promise<TimeSlice[]> {
  const count = (range: TimeSlice, width: number) =>
    turn(async (): Promise<CountedSlice[]> => {
      const { params, bind } = createBinder()
      const bucket = `(recorded_at - ${bind(range.start)}) // ${bind(width)}`
      const where = toSelectionSql({ ...selection, ...range }, duckDbDialect, bind)
      const answer = await connection.runAndReadAll(
        `SELECT ${bucket} AS bucket, count(*) FROM hits WHERE ${where} GROUP BY bucket ORDER BY bucket`,
        params.map(toDuckDbValue),
        params.map(toDuckDbType),
      )
      return answer.getRows().map(([number, hits]) => {
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

async function writePart(
  connection: DuckDBConnection,
  { selection, format, dir }: HitExport,
  slice: TimeSlice,
  path: string,
  first: boolean,
) {
  await requireDiskSpace(dir)
  const { params, bind } = createBinder()
  const where = toSelectionSql({ ...selection, ...slice }, duckDbDialect, bind)
  const select = `SELECT ${toExportColumns(format)} FROM hits LEFT JOIN link_names ON link_names.id = hits.link_id
    WHERE ${where} ORDER BY recorded_at, hits.id`
  const text = `COPY (${select}) TO ${quoteLiteral(path)} (${COPY_OPTIONS[format](first)})`
  await connection.run(text, params.map(toDuckDbValue), params.map(toDuckDbType))
}

async function requireDiskSpace(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize < DISK_RESERVE_BYTES) throw unavailable('Too little room on the disk for an export')
}

/** Texts are one part behind the other. */
async function writeTextFile(
  connection: DuckDBConnection,
  request: HitExport,
  slices: TimeSlice[],
  path: string,
  turn: Turn,
) {
  const part = join(request.dir, 'part')
  const buffer = Buffer.alloc(COPY_BYTES)
  const file = await open(path, 'wx', 0o600)
  try {
    for (const [index, slice] of slices.entries()) {
      await turn(() => writePart(connection, request, slice, part, index === 0))
      await appendFile(file, part, buffer)
      await rm(part)
    }
  } finally {
    await file.close()
  }
}

/** Through one buffer: a stream makes a new one for each piece, and they wait for the collector. */
async function appendFile(file: FileHandle, part: string, buffer: Buffer) {
  const from = await open(part)
  try {
    for (;;) {
      const { bytesRead } = await from.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      await file.writeFile(buffer.subarray(0, bytesRead))
    }
  } finally {
    await from.close()
  }
}

/** In order, which the engine itself does not keep. */
async function mergeParquet(parts: string[], path: string, signal: AbortSignal) {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${MERGE_MEMORY_MB}MB`,
    threads: '1',
    // By default it is in the directory that the server was started from.
    temp_directory: `${path}.tmp`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const stop = () => connection.interrupt()
  signal.addEventListener('abort', stop)
  try {
    await connection.run(`COPY (FROM read_parquet([${parts.map(quoteLiteral)}])) TO ${quoteLiteral(path)}
      (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`)
  } finally {
    signal.removeEventListener('abort', stop)
    connection.closeSync()
    instance.closeSync()
  }
}
