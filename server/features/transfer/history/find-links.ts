// The reader's cache of links by key: it asks the server for those that it does not know.

import type { HistoryRow, SendToServer } from './messages.ts'

/** A key takes about 100 bytes, and in a hostile file a megabyte. */
const KEYS_MAX = 200_000
const KEY_CHARS_MAX = 50 * KEYS_MAX

export interface LinkFinder {
  /** The link of each row, or 0. */
  find(rows: readonly Pick<HistoryRow, 'keys'>[]): Promise<number[]>
}

export function createLinkFinder(send: SendToServer): LinkFinder {
  let known = new Map<string, number>()
  let knownChars = 0
  return {
    async find(rows) {
      const missing = new Set<string>()
      for (const { keys } of rows) for (const key of keys) if (!known.has(key)) missing.add(key)
      if (known.size + missing.size > KEYS_MAX || knownChars > KEY_CHARS_MAX) {
        known = new Map()
        knownChars = 0
        for (const { keys } of rows) for (const key of keys) missing.add(key)
      }
      if (missing.size > 0) {
        const keys = [...missing]
        const links = (await send({ type: 'links', keys })) ?? []
        for (const [index, key] of keys.entries()) {
          known.set(key, links[index] ?? 0)
          knownChars += key.length
        }
      }
      return rows.map(({ keys }) => {
        for (const key of keys) {
          const linkId = known.get(key) ?? 0
          if (linkId > 0) return linkId
        }
        return 0
      })
    },
  }
}
