// Finds the workspace of a public id, with a cache in memory: the snippet sends the public id with every page view.

import type { Database } from '../../storage/database/open-database.ts'

export interface WorkspaceLookup {
  /** @returns the workspace's id, or null where there is none or it is suspended; a promise only where the cache does not know */
  find(publicId: string): number | null | Promise<number | null>
  /** @returns undefined where the cache does not know */
  findCached(publicId: string): number | null | undefined
  invalidate(workspaceId: number): void
}

/** Looser than public ids are, and strict enough for a query. */
const WELL_FORMED = /^[\w-]{1,64}$/
const ENTRIES_MAX = 20_000
/** Caches that a workspace does not exist: short enough for new workspaces, and guesses do not reach the database. */
const MISSING_MS = 10_000

interface Entry {
  id: number | null
  until: number
}

/** Two generations, as in the cache of links: an entry that is not used while the younger fills up goes with the older. */
export function createWorkspaceLookup(
  { read }: Pick<Database, 'read'>,
  { max = ENTRIES_MAX, clock = () => performance.now() } = {},
): WorkspaceLookup {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  const pending = new Map<string, Promise<number | null>>()
  let invalidations = 0

  function store(publicId: string, entry: Entry) {
    if (young.size >= max / 2) {
      old = young
      young = new Map()
    }
    young.set(publicId, entry)
  }

  async function query(publicId: string): Promise<number | null> {
    const before = invalidations
    // The only query of a workspace that does not name its id: a page knows the public id alone.
    const row = await read
      .selectFrom('workspaces')
      .select('id')
      .where('public_id', '=', publicId)
      .where('suspended_at', 'is', null)
      .executeTakeFirst()
    const id = row?.id ?? null
    if (invalidations === before) {
      store(publicId, { id, until: id === null ? clock() + MISSING_MS : Number.POSITIVE_INFINITY })
    }
    return id
  }

  function findCached(publicId: string): number | null | undefined {
    const entry = young.get(publicId)
    if (entry) return entry.until > clock() ? entry.id : undefined
    const older = old.get(publicId)
    if (!older || older.until <= clock()) return undefined
    store(publicId, older)
    return older.id
  }

  return {
    findCached,
    find(publicId) {
      const id = findCached(publicId)
      if (id !== undefined) return id
      if (!WELL_FORMED.test(publicId)) return null
      let result = pending.get(publicId)
      if (!result) {
        result = query(publicId).finally(() => pending.delete(publicId))
        pending.set(publicId, result)
      }
      return result
    },
    invalidate(workspaceId) {
      invalidations++
      for (const generation of [young, old])
        for (const [publicId, { id }] of generation) if (id === workspaceId) generation.delete(publicId)
    },
  }
}
