// Who may use which connection when: loads one after another, questions a few at a time.

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ReadWriteLock } from './read-write-lock.ts'

/** Enough that one long question does not hold up the short ones; more would only share the same two cores. */
const ASK_CONNECTIONS = 3

/** One at a time, in order: a connection has one transaction. A failure is its caller's alone. */
export function createSerialQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}

/** Connections for questions, apart from the writer's so that a long question does not hold up a load. */
export async function openReadConnections(instance: DuckDBInstance, gate: ReadWriteLock) {
  const all = await Promise.all(Array.from({ length: ASK_CONNECTIONS }, () => instance.connect()))
  const idle = [...all]
  const waiting: ((connection: DuckDBConnection) => void)[] = []
  let closing: (() => void) | undefined
  const give = (connection: DuckDBConnection) => {
    const next = waiting.shift()
    if (next) next(connection)
    else if (idle.push(connection) === all.length) closing?.()
  }
  return {
    async use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
      if (closing) throw new Error('The hit engine is closed')
      const connection =
        idle.pop() ?? (await new Promise<DuckDBConnection>((resolve) => waiting.push(resolve)))
      try {
        if (closing) throw new Error('The hit engine is closed')
        return await gate.shared(() => work(connection))
      } finally {
        give(connection)
      }
    },
    async close() {
      await new Promise<void>((resolve) => {
        closing = resolve
        if (idle.length === all.length) resolve()
        // Whoever still waits for an answer will not be there to read it.
        else for (const connection of all) connection.interrupt()
      })
      for (const connection of all) connection.closeSync()
    },
  }
}
