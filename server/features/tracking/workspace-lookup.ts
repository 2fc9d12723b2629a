// Finds the workspace of a public id, with a cache in memory: the snippet sends the public id with every page view.

import { createExpiry, type Expiry, type Freshness } from '../../lib/concurrency/expiry.ts'
import { createRecentChanges, type RecentChanges } from '../../lib/concurrency/recent-changes.ts'
import { createSharedReads } from '../../lib/concurrency/shared-reads.ts'
import { createGenerations, type Generations } from '../../lib/generations.ts'
import { describeError, log } from '../../lib/log.ts'
import { copyText } from '../../lib/text.ts'
import type { Database } from '../../storage/database/open-database.ts'

export interface WorkspaceLookup {
  /** @returns the workspace's id, or null where there is none or it is suspended; a promise only where the cache does not know */
  find(publicId: string): number | null | Promise<number | null>
  /** @returns undefined where the cache does not know */
  findCached(publicId: string): number | null | undefined
  /** A workspace was created, suspended, restored or deleted. */
  invalidate(workspaceId: number): void
  invalidateAll(): void
}

/** Accepts more than public ids, and is strict enough for a query. */
const WELL_FORMED = /^[\w-]{1,64}$/
const ENTRIES_MAX = 20_000
/** Made-up ids have a small cache of their own, so that they push no workspace out. */
const MISSING_MAX = 2_000
/** Guesses do not reach the database. A new workspace whose change was missed is found after this time. */
const MISSING_MS = 10_000

type LookupOptions = Freshness & { max?: number }

interface LookupState {
  read: Database['read']
  known: Generations<{ id: number; until: number }>
  missing: Generations<{ until: number }>
  recent: RecentChanges
  expiry: Expiry
  clock: () => number
}

export function createWorkspaceLookup(
  { read }: Pick<Database, 'read'>,
  { max = ENTRIES_MAX, clock = () => performance.now(), ...freshness }: LookupOptions = {},
): WorkspaceLookup {
  const state: LookupState = {
    read,
    known: createGenerations({ entriesMax: max / 2 }),
    missing: createGenerations({ entriesMax: MISSING_MAX / 2 }),
    recent: createRecentChanges(),
    expiry: createExpiry({ ...freshness, clock }),
    clock,
  }
  const { known, missing, recent, expiry } = state
  const reads = createSharedReads<number | null>(recent)

  function findCached(publicId: string): number | null | undefined {
    const workspace = known.get(publicId)
    if (workspace) return expiry.isCurrent(workspace) ? workspace.id : undefined
    const miss = missing.get(publicId)
    return miss && miss.until > clock() ? null : undefined
  }

  return {
    findCached,
    find(publicId) {
      const id = findCached(publicId)
      if (id !== undefined) return id
      if (!WELL_FORMED.test(publicId)) return null
      const expired = known.get(publicId)
      const result = reads.join(publicId, (version) => query(state, publicId, version))
      return expired === undefined ? result : result.catch((error) => useExpired(expired.id, error))
    },
    invalidate(workspaceId) {
      recent.add(`${workspaceId}`)
      known.deleteWhere(({ id }) => id === workspaceId)
      // Any of the cached unknown ids may be this workspace's.
      missing.clear()
      reads.closeAll()
    },
    invalidateAll() {
      recent.addAll()
      known.clear()
      missing.clear()
    },
  }
}

/** @param version of `recent`, before the query */
async function query(state: LookupState, publicId: string, version: number): Promise<number | null> {
  const { read, known, missing, recent, expiry, clock } = state
  // The only query of a workspace that does not name its id: a page knows the public id alone.
  const row = await read
    .selectFrom('workspaces')
    .select('id')
    .where('public_id', '=', publicId)
    .where('suspended_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) {
    known.delete(publicId)
    // Any workspace that has changed meanwhile may be this one.
    if (version === recent.version()) missing.set(copyText(publicId), { until: clock() + MISSING_MS })
    return null
  }
  if (!recent.hasChangedSince(version, `${row.id}`))
    known.set(copyText(publicId), { id: row.id, until: expiry.next() })
  return row.id
}

function useExpired(id: number, error: unknown): number {
  log.warn('workspace_not_read_again', describeError(error))
  return id
}
