// Finds the workspace of a public id, with a cache in memory: the snippet sends the public id with every page view.

import { createGenerations } from '../../lib/generations.ts'
import { copyText } from '../../lib/text.ts'
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
/** Made-up ids have a small cache of their own, so that they push no workspace out. */
const MISSING_MAX = 2_000
/** Caches that a workspace does not exist: short enough for new workspaces, and guesses do not reach the database. */
const MISSING_MS = 10_000

export function createWorkspaceLookup(
  { read }: Pick<Database, 'read'>,
  { max = ENTRIES_MAX, clock = () => performance.now() } = {},
): WorkspaceLookup {
  const known = createGenerations<{ id: number }>({ entriesMax: max / 2 })
  const missing = createGenerations<{ until: number }>({ entriesMax: MISSING_MAX / 2 })
  const pending = new Map<string, Promise<number | null>>()
  let invalidations = 0

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
    if (invalidations !== before) return id
    if (id === null) missing.set(copyText(publicId), { until: clock() + MISSING_MS })
    else known.set(copyText(publicId), { id })
    return id
  }

  function findCached(publicId: string): number | null | undefined {
    const workspace = known.get(publicId)
    if (workspace) return workspace.id
    const miss = missing.get(publicId)
    return miss && miss.until > clock() ? null : undefined
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
      known.deleteWhere(({ id }) => id === workspaceId)
    },
  }
}
