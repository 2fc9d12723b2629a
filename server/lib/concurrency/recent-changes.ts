// Records recently changed keys, so that a cache does not store a value that was read before a change. Reads of other
// keys are not affected.

export interface RecentChanges {
  /** Call it before a read. */
  version(): number
  add(key: string): void
  /** Any key may have changed. */
  addAll(): void
  /** Also true if the version is too old to know. */
  hasChangedSince(version: number, key: string): boolean
}

/** Far more than change during one read. 4,096 keys of links take half a megabyte. */
const KEYS_MAX = 4_096

export function createRecentChanges(keysMax = KEYS_MAX): RecentChanges {
  /** The version of each key's last change, the oldest change first. */
  const changed = new Map<string, number>()
  let current = 0
  /** Changes up to this version can be of any key. */
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
