// Exports clicks from ClickHouse to a file. ClickHouse answers slices of the hits, and a DuckDB in this process sorts and writes
// them, as for exports of the embedded engine.

import { open, rm } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { createBinder } from '../../filter-sql.ts'
import { type ClickExporter, openClickExporter } from '../click-exporter.ts'
import { writeClicks } from '../duckdb/export-writer.ts'
import { createMemoryInstance } from '../duckdb/memory-instance.ts'
import type { TimeSlice } from '../duckdb/time-slices.ts'
import { quoteLiteral } from '../duckdb/values.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'
import type { HitExport } from '../hit-engine.ts'
import { toSelectionSql } from '../hit-sql.ts'
import type { ClickHouseClient } from './client.ts'
import { clickHouseDialect } from './dialect.ts'
import { QUESTION_SETTINGS, toQuestionFailure } from './query.ts'

/** Sorting a slice takes 20 MB, and its sources take buffers too. */
const WRITER_MEMORY_MB = 96
const COLUMNS = ['node', ...Object.values(HIT_COLUMNS)].join(', ')
/** A failed slice must be an error, not a truncated file. */
const SLICE_SETTINGS = {
  ...QUESTION_SETTINGS,
  wait_end_of_query: 1,
  output_format_parquet_string_as_string: 1,
}

/** @param scratchDir the only directory that exports may write to */
export function openClickHouseExporter(
  client: Pick<ClickHouseClient, 'select' | 'stream'>,
  scratchDir: string,
): ClickExporter {
  return openClickExporter(async (request, signal, run) => {
    signal.throwIfAborted()
    if (!resolve(request.dir).startsWith(resolve(scratchDir) + sep))
      throw new Error('An export has no permission to write outside of its scratch directory')
    const instance = await createMemoryInstance(WRITER_MEMORY_MB, join(request.dir, 'tmp'))
    const connection = await instance.connect()
    const fetched = join(request.dir, 'fetched')
    try {
      return await writeClicks({
        connection,
        request,
        signal,
        run,
        dialect: clickHouseDialect,
        count: (text, params) =>
          callServer(() => client.select(text, { params, settings: QUESTION_SETTINGS, signal })),
        async withSlice(slice, write) {
          await callServer(() => fetchSlice(client, request, slice, fetched, signal))
          await run(() => write(() => `(SELECT * FROM read_parquet(${quoteLiteral(fetched)}))`))
          await rm(fetched)
        },
      })
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  })
}

async function fetchSlice(
  client: Pick<ClickHouseClient, 'stream'>,
  { selection }: HitExport,
  slice: TimeSlice,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { params, bind } = createBinder(clickHouseDialect)
  const where = toSelectionSql({ ...selection, ...slice }, clickHouseDialect, bind)
  const text = `SELECT ${COLUMNS} FROM hits WHERE ${where}`
  const stream = await client.stream(text, 'Parquet', { params, settings: SLICE_SETTINGS, signal })
  const file = await open(path, 'w', 0o600)
  try {
    for await (const bytes of stream) await file.writeFile(bytes)
  } finally {
    await file.close()
  }
}

async function callServer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toQuestionFailure(error)
  }
}
