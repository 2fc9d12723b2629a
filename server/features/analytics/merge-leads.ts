// Adds up the counts of leads of several ranges, as one statement over all of them would count.

import { createTopList } from '../../lib/concurrency/top-list.ts'

/** The parts of leads that one visitor has in one group. */
export interface VisitorParts {
  key: string | number | null
  visitor: string | null
  parts: number
}

export interface GroupParts {
  key: string | number | null
  parts: number
  visitors: number
}

export interface LeadSum {
  add(rows: VisitorParts[]): void
  /** In the order of the keys, or with the most parts first: at most `max`. No key comes before every other key. */
  list(order: 'key' | 'parts', max?: number): Promise<GroupParts[]>
}

export function createLeadSum(): LeadSum {
  const groups = new Map<GroupParts['key'], { parts: number; visitors: Set<string> }>()
  return {
    add(rows) {
      for (const { key, visitor, parts } of rows) {
        const group = groups.get(key) ?? { parts: 0, visitors: new Set() }
        groups.set(key, group)
        group.parts += parts
        if (visitor !== null) group.visitors.add(visitor)
      }
    },
    async list(order, max = groups.size) {
      const byKey = (a: GroupParts, b: GroupParts) => compareKeys(a.key, b.key)
      const first = createTopList<GroupParts>(
        max,
        order === 'key' ? byKey : (a, b) => b.parts - a.parts || byKey(a, b),
      )
      for (const [key, { parts, visitors }] of groups)
        await first.add({ key, parts, visitors: visitors.size })
      return first.list()
    },
  }
}

/** Compares texts by their bytes, as SQLite does. */
function compareKeys(a: GroupParts['key'], b: GroupParts['key']): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
