// The first items in some order, sorted in steps, because sorting hundreds of thousands at once would block the event
// loop.

import { takeTurn } from './take-turn.ts'

export interface TopList<Item> {
  add(item: Item): Promise<void> | undefined
  /** In their order: at most `max`. */
  list(): Item[]
}

/** @param compare as `Array.sort` takes it */
export function createTopList<Item>(max: number, compare: (a: Item, b: Item) => number): TopList<Item> {
  const items: Item[] = []
  const keep = () => items.sort(compare).splice(max)
  return {
    add: (item) => (items.push(item) < 2 * max ? undefined : takeTurn().then(() => void keep())),
    list() {
      keep()
      return items
    },
  }
}
