// A few connections for questions, separate from the writer's, so that a long question does not delay a load. Waiting
// workspaces take turns, so that one with many questions does not delay the others.

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import type { ReadWriteLock } from './read-write-lock.ts'

/** Enough that one long question does not delay the short ones. More would only share the same two cores. */
const READ_CONNECTIONS = 3

export interface ReadConnections {
  /** Runs the work on a free connection, while no commit runs. */
  use<T>(workspaceId: number, work: (connection: DuckDBConnection) => Promise<T>): Promise<T>
  /** Interrupts running questions and closes the connections. */
  close(): Promise<void>
}

export async function openReadConnections(
  instance: DuckDBInstance,
  lock: ReadWriteLock,
): Promise<ReadConnections> {
  const all = await Promise.all(Array.from({ length: READ_CONNECTIONS }, () => instance.connect()))
  const idle = [...all]
  const turns = createFairQueue<number>(all.length)
  let onAllIdle: (() => void) | undefined
  const isClosing = () => onAllIdle !== undefined
  return {
    use: (workspaceId, work) =>
      turns.run(workspaceId, async () => {
        const connection = isClosing() ? undefined : idle.pop()
        if (!connection) throw new Error('The hit engine is closed')
        try {
          return await lock.shared(() => work(connection))
        } finally {
          if (idle.push(connection) === all.length) onAllIdle?.()
        }
      }),
    async close() {
      await new Promise<void>((resolve) => {
        onAllIdle = resolve
        if (idle.length === all.length) resolve()
        // The answers of running questions are not needed any more.
        else for (const connection of all) connection.interrupt()
      })
      for (const connection of all) connection.closeSync()
    },
  }
}
