// Exports clicks from DuckDB to a file. Each statement is short, so that questions get one of the two threads that Bun
// has for all native work.

import type { DuckDBInstance } from '@duckdb/node-api'
import { type ClickExporter, openClickExporter, type StatementRunner } from '../click-exporter.ts'
import { toSelectionSql } from '../hit-sql.ts'
import { duckDbDialect } from './dialect.ts'
import { writeClicks } from './export-writer.ts'
import type { ReadWriteLock } from './read-write-lock.ts'
import { toDuckDbType, toDuckDbValue } from './values.ts'

export function openDuckDbExporter(instance: DuckDBInstance, lock: ReadWriteLock): ClickExporter {
  return openClickExporter(async (request, signal, run) => {
    const connection = await instance.connect()
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
