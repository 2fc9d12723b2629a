// Remembers which keys have changed lately, so that a cache does not keep what was read before a change. The change of a
// key does not concern reads of other keys.

export interface RecentChanges {
  /** Call it before a read. */
  version(): number
  add(key: string): void
  /** Any key may have changed. */
  addAll(): void
  /** True also where the version is too old to tell. */
  hasChangedSince(version: number, key: string): boolean
}

/** Far more than change during one read. 4,096 keys of links take half a megabyte. */
const KEYS_MAX = 4_096

export function createRecentChanges(keysMax = KEYS_MAX): RecentChanges {
  /** The version of each key's last change, the oldest change first. */
  const changed = new Map<string, number>()
  let current = 0
  /** Every change up to this version may be one of any key. */
  let floor = 0
  return {
    version: () => current,
    add(key) {
      current++
      changed.delete(key)
      changed.set(key, current)
      if (changed.size <= keysMax) return
      const [oldest, version] = changed.entries().next().value as [string, number]
      changed.delete(oldest)
      floor = version
    },
    addAll() {
      current++
      floor = current
      changed.clear()
    },
    hasChangedSince: (version, key) => version < floor || (changed.get(key) ?? 0) > version,
  }
}
