// The connections for questions: a few at a time, apart from the writer's, so that a long question does not hold up a
// load.

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ReadWriteLock } from './read-write-lock.ts'

/** Enough that one long question does not hold up the short ones. More would only share the same two cores. */
const READ_CONNECTIONS = 3

export interface ReadConnections {
  /** Runs the work on a free connection, while no commit runs. */
  use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>
  /** Interrupts running questions and closes the connections. */
  close(): Promise<void>
}

export async function openReadConnections(
  instance: DuckDBInstance,
  lock: ReadWriteLock,
): Promise<ReadConnections> {
  const all = await Promise.all(Array.from({ length: READ_CONNECTIONS }, () => instance.connect()))
  const idle = [...all]
  const waiting: ((connection: DuckDBConnection) => void)[] = []
  let onAllIdle: (() => void) | undefined
  const release = (connection: DuckDBConnection) => {
    const next = waiting.shift()
    if (next) next(connection)
    else if (idle.push(connection) === all.length) onAllIdle?.()
  }
  return {
    async use(work) {
      if (onAllIdle) throw new Error('The hit engine is closed')
      const connection =
        idle.pop() ?? (await new Promise<DuckDBConnection>((resolve) => waiting.push(resolve)))
      try {
        if (onAllIdle) throw new Error('The hit engine is closed')
        return await lock.shared(() => work(connection))
      } finally {
        release(connection)
      }
    },
    async close() {
      await new Promise<void>((resolve) => {
        onAllIdle = resolve
        if (idle.length === all.length) resolve()
        // A caller that still waits for an answer will not be there to read it.
        else for (const connection of all) connection.interrupt()
      })
      for (const connection of all) connection.closeSync()
    },
  }
}
