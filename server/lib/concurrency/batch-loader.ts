// Loads keys in batches: one query for all keys that callers ask for in the same turn of the event loop.

/**
 * @param loadAll gets each key once, in the order of the calls
 * @returns a function that loads one key; undefined where `loadAll` has no value for it
 */
export function createBatchLoader<Key, Value>(
  loadAll: (keys: Key[]) => Promise<Map<Key, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let batch: { keys: Set<Key>; values: Promise<Map<Key, Value>> } | undefined

  function openBatch() {
    const keys = new Set<Key>()
    // `setImmediate` runs after all callbacks that are ready now, so after their calls.
    const endOfTurn = new Promise<void>((resolve) => setImmediate(resolve))
    const values = endOfTurn.then(() => {
      batch = undefined
      return loadAll([...keys])
    })
    return { keys, values }
  }

  return async (key) => {
    batch ??= openBatch()
    batch.keys.add(key)
    return (await batch.values).get(key)
  }
}
