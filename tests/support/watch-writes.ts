// Observes a database after each write of a server, to see the intermediate states of long work.

import { spyOn } from 'bun:test'
import type { Database } from '../../server/storage/database/open-database.ts'

/**
 * Each write is followed by another one, which reads the state.
 * @returns what was seen while `work` ran, each value once, in order
 */
export async function watchWrites<T>(
  db: Database,
  look: () => Promise<T>,
  work: () => Promise<unknown>,
): Promise<T[]> {
  const { write } = db
  const seen = new Set<T>()
  const spy = spyOn(db, 'write').mockImplementation(async (body) => {
    const result = await write(body)
    seen.add(await write(look))
    return result
  })
  try {
    await work()
  } finally {
    spy.mockRestore()
  }
  return [...seen]
}
