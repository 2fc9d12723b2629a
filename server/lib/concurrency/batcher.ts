// Serves concurrent calls in batches: those of one turn of the event loop, and those that come while a batch runs.

import { runForNobody } from '../telemetry/request-context.ts'
import { gather } from './gather.ts'

interface Call<Item, Result> extends PromiseWithResolvers<Result> {
  item: Item
}

interface BatcherOptions<Item> {
  /** Items of different keys are served apart and side by side. Without it, all items have one key. */
  toKey?: (item: Item) => unknown
  /** The most items of a batch. */
  max?: number
  /** A batch does not wait for the one before. */
  overlaps?: boolean
}

/**
 * @param serve gets items in the order of the calls, and returns their results in the same order. If it throws, all of these
 * calls fail
 */
export function createBatcher<Item, Result>(
  serve: (items: Item[]) => Promise<Result[]>,
  { toKey = () => '', max = Number.POSITIVE_INFINITY, overlaps = false }: BatcherOptions<Item> = {},
): (item: Item) => Promise<Result> {
  const waitingByKey = new Map<unknown, Call<Item, Result>[]>()

  async function serveBatch(calls: Call<Item, Result>[]) {
    try {
      const results = await serve(calls.map(({ item }) => item))
      for (const [n, { resolve }] of calls.entries()) resolve(results[n] as Result)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  async function serveAll(key: unknown, waiting: Call<Item, Result>[]) {
    while (waiting.length > 0) {
      await gather(waiting, max)
      const batch = serveBatch(waiting.splice(0, max))
      if (!overlaps) await batch
    }
    waitingByKey.delete(key)
  }

  return (item) => {
    const key = toKey(item)
    const call = { item, ...Promise.withResolvers<Result>() }
    const waiting = waitingByKey.get(key)
    if (waiting) waiting.push(call)
    else {
      const first = [call]
      waitingByKey.set(key, first)
      // The batch belongs to several requests.
      void runForNobody(() => serveAll(key, first))
    }
    return call.promise
  }
}
