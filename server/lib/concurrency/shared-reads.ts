// Shares one read of a store among all concurrent callers of the same key.

import type { RecentChanges } from './recent-changes.ts'

export interface SharedReads<T> {
  /**
   * Joins the running read of the key, or begins one. A read that began before a change of the key is not joined: it
   * may find the old value. @param read gets the version of `recent` at its start
   */
  join(key: string, read: (version: number) => Promise<T>): Promise<T>
  /** No caller joins the running reads any more. */
  closeAll(): void
}

export function createSharedReads<T>(
  recent: Pick<RecentChanges, 'version' | 'hasChangedSince'>,
): SharedReads<T> {
  const running = new Map<string, { version: number; result: Promise<T> }>()
  return {
    join(key, read) {
      const other = running.get(key)
      if (other && !recent.hasChangedSince(other.version, key)) return other.result
      const version = recent.version()
      const own = {
        version,
        result: read(version).finally(() => {
          if (running.get(key) === own) running.delete(key)
        }),
      }
      running.set(key, own)
      return own.result
    },
    closeAll: () => running.clear(),
  }
}
