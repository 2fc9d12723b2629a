// Keeps the icons of sites in memory, and fetches new ones a few at a time. Nobody waits long: an icon that comes later is
// there for the next request.

import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'

/** With icons of 32 KB in base64, 40 MB at most; 2 KB is usual. */
const SITES_MAX = 1_000
const FETCHES_AT_ONCE = 4
/** Waiting fetches of one workspace: a list of links has at most 100 hosts. */
const WAITING_MAX = 200
const KEPT_MS = 7 * 24 * 60 * 60_000
/** A site without an icon may have one tomorrow. */
const NONE_KEPT_MS = 24 * 60 * 60_000
const WAIT_MS = 1_500

interface Entry {
  icon: Promise<string | null>
  /** Undefined while it is fetched. */
  expiresAt?: number
}

export interface FaviconCache {
  /** @returns the icons that are there, by host */
  find(workspaceId: number, hosts: readonly string[]): Promise<Map<string, string>>
}

export function createFaviconCache(
  fetchIcon: (host: string) => Promise<string | null>,
  now: () => number,
  waitMs = WAIT_MS,
): FaviconCache {
  /** The host that was asked for last is the last one. */
  const entries = new Map<string, Entry>()
  const queue = createFairQueue<number>(FETCHES_AT_ONCE)
  const waiting = new Map<number, number>()

  const countWaiting = (workspaceId: number, by: number) => {
    const count = (waiting.get(workspaceId) ?? 0) + by
    if (count > 0) waiting.set(workspaceId, count)
    else waiting.delete(workspaceId)
  }

  function fetchEntry(workspaceId: number, host: string): Entry {
    countWaiting(workspaceId, 1)
    const entry: Entry = {
      icon: queue
        .run(workspaceId, () => fetchIcon(host))
        .catch(() => null)
        .then((icon) => {
          countWaiting(workspaceId, -1)
          entry.expiresAt = now() + (icon === null ? NONE_KEPT_MS : KEPT_MS)
          return icon
        }),
    }
    return entry
  }

  function getEntry(workspaceId: number, host: string): Entry | undefined {
    const known = entries.get(host)
    const isFresh = known && (known.expiresAt === undefined || known.expiresAt > now())
    if (!isFresh && (waiting.get(workspaceId) ?? 0) >= WAITING_MAX) return undefined
    const entry = isFresh ? known : fetchEntry(workspaceId, host)
    entries.delete(host)
    entries.set(host, entry)
    for (const [oldest] of entries) {
      if (entries.size <= SITES_MAX) break
      entries.delete(oldest)
    }
    return entry
  }

  return {
    async find(workspaceId, hosts) {
      const icons = new Map<string, string>()
      const all = hosts.map(async (host) => {
        const icon = await getEntry(workspaceId, host)?.icon
        if (icon) icons.set(host, icon)
      })
      await withTimeout(Promise.all(all), waitMs, () => [])
      return icons
    },
  }
}
