// Wires the change feed to the caches: invalidates their entries, whichever process has made the change.

import { type ChangeFeed, openChangeFeed } from '../features/cluster/change-feed.ts'
import type { LinkCache } from '../features/links/cache.ts'
import type { DomainDirectory } from '../features/links/names/domain-directory.ts'
import type { WorkspaceLookup } from '../features/tracking/workspace-lookup.ts'
import { reloadTraffic, type TrafficDirectory } from '../features/visitors/traffic-directory.ts'
import { describeError, log } from '../lib/log.ts'
import type { DatabaseEngine, DatabaseHandle } from '../storage/database/open-database.ts'

/** While the feed cannot be read, this process notices another process's change to a link within this time. */
const UNFOLLOWED_MS = 2_000

/** How long entries of the caches hold. The feed voids entries, so it is opened after the caches. */
export function createFreshness(engine: DatabaseEngine) {
  let feed: Pick<ChangeFeed, 'followedUntil'> | undefined
  return {
    timeToLiveMs: engine === 'postgres' ? UNFOLLOWED_MS : undefined,
    followedUntil: () => feed?.followedUntil() ?? Number.NEGATIVE_INFINITY,
    follow(opened: Pick<ChangeFeed, 'followedUntil'>) {
      feed = opened
    },
  }
}

export interface CacheNeeds {
  db: DatabaseHandle
  cache: LinkCache
  domains: Pick<DomainDirectory, 'reload'>
  workspaces: WorkspaceLookup
  traffic: TrafficDirectory
  freshness: ReturnType<typeof createFreshness>
}

/** Call it before the caches have entries. */
export async function followChanges({
  db,
  cache,
  domains,
  workspaces,
  traffic,
  freshness,
}: CacheNeeds): Promise<ChangeFeed> {
  const reloadDomains = () =>
    void domains.reload().catch((error) => log.error('domains_not_read_again', describeError(error)))
  const invalidateWorkspace = (id: number) => {
    cache.invalidateWorkspace(id)
    workspaces.invalidate(id)
    reloadTraffic(traffic, id)
    reloadDomains()
  }
  db.watchChanges((change) => {
    if ('workspaceId' in change) invalidateWorkspace(change.workspaceId)
    else cache.invalidate(change.domain, change.slugKey)
  })
  const feed = await openChangeFeed({
    db,
    invalidateLink: cache.invalidate,
    invalidateWorkspace,
    invalidateAll() {
      cache.invalidateAll()
      workspaces.invalidateAll()
      reloadTraffic(traffic)
      reloadDomains()
    },
  })
  freshness.follow(feed)
  // After the feed has begun to follow, so that no change is missed.
  await domains.reload()
  await traffic.reload()
  return feed
}
