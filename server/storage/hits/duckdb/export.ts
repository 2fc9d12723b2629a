// Exports clicks from DuckDB to a file. Each statement is short, so that questions find one of the two threads that Bun
// has for all native work.

import type { DuckDBInstance } from '@duckdb/node-api'
import { createSerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { type ClickExporter, openClickExporter } from '../click-exporter.ts'
import { toSelectionSql } from '../hit-sql.ts'
import { duckDbDialect } from './dialect.ts'
import { type StatementRunner, writeClicks } from './export-writer.ts'
import type { ReadWriteLock } from './read-write-lock.ts'
import { toDuckDbType, toDuckDbValue } from './values.ts'

export function openDuckDbExporter(instance: DuckDBInstance, lock: ReadWriteLock): ClickExporter {
  // All exports together run one statement at a time: the other thread is for questions, loads and files.
  const statements = createSerialQueue()
  return openClickExporter(async (request, signal) => {
    const connection = await instance.connect()
    const run: StatementRunner = (work) =>
      statements(async () => {
        signal.throwIfAborted()
        return work()
      })
    const read: StatementRunner = (work) => run(() => lock.shared(work))
    try {
      return await writeClicks({
        connection,
        request,
        signal,
        run,
        dialect: duckDbDialect,
        count: (text, params) =>
          read(async () => {
            const types = params.map(toDuckDbType)
            return (await connection.runAndReadAll(text, params.map(toDuckDbValue), types)).getRows()
          }),
        withSlice: (slice, write) =>
          read(() =>
            write((bind) => {
              const where = toSelectionSql({ ...request.selection, ...slice }, duckDbDialect, bind)
              return `(SELECT * FROM hits WHERE ${where})`
            }),
          ),
      })
    } finally {
      connection.closeSync()
    }
  })
}
