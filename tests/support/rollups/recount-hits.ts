// Answers a question from a list of hits, in the simplest way.

import { type Hit, NO_VISITOR } from '../../../server/storage/hits/hit.ts'
import {
  type HitAnswer,
  type HitColumn,
  type HitFilter,
  type HitQuery,
  LINK_DAYS,
} from '../../../server/storage/hits/hit-engine.ts'
import { isParamColumn } from '../../../server/storage/hits/kept-params.ts'
import { toDay } from '../../../server/storage/hits/rollups/rollup.ts'
import { toSource, toTrafficChannel } from '../../../server/storage/sources/traffic-channel.ts'

type Key = HitAnswer['key']

/** A visitor belongs to one UTC day: the same number on another day is somebody else. */
export function recountHits(hits: readonly Hit[], query: HitQuery): HitAnswer[] {
  const counts = new Map<Key, { clicks: number; visitors: Set<string> }>()
  if (query.groupBy.by === 'total') counts.set(null, { clicks: 0, visitors: new Set() })
  const listKeys = createKeyLister(query)
  for (const hit of hits) {
    if (!isSelected(hit, query)) continue
    for (const key of listKeys(hit)) {
      const count = counts.get(key) ?? { clicks: 0, visitors: new Set() }
      counts.set(key, count)
      count.clicks++
      if (hit.visitor !== NO_VISITOR) count.visitors.add(toPerson(hit))
    }
  }
  const rows = [...counts].map(([key, { clicks, visitors }]) => ({ key, clicks, visitors: visitors.size }))
  return sortAnswers(rows, query)
}

/** Sorts the rows of an answer, and leaves out those after the limit. */
export function sortAnswers(rows: HitAnswer[], { groupBy }: HitQuery): HitAnswer[] {
  if (groupBy.by === 'total' || groupBy.by === 'time') return rows.sort((a, b) => compareKeys(a.key, b.key))
  return rows
    .sort((a, b) => b.clicks - a.clicks || compareKeys(a.key, b.key))
    .slice(0, 'limit' in groupBy ? groupBy.limit : undefined)
}

const compareKeys = (a: Key, b: Key) =>
  typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`))

const SHORT_MASK = (1n << 48n) - 1n
const people = new WeakMap<Hit, string>()

/** Who the visitor is: a number on a day. */
export function toPerson(hit: Hit): string {
  const person = people.get(hit) ?? `${toDay(hit.at)}/${BigInt(hit.visitor) & SHORT_MASK}`
  people.set(hit, person)
  return person
}

function isSelected(hit: Hit, query: HitQuery): boolean {
  if (hit.workspaceId !== query.workspaceId || hit.at < query.start || hit.at >= query.end) return false
  if (!query.classes.includes(hit.class)) return false
  if (!(query.outcomes ?? ['redirect']).includes(hit.outcome)) return false
  if (query.imported !== undefined && query.imported !== (hit.importId !== null)) return false
  return query.filters.every((filter) => isMatch(filter, getValue(hit, filter.column)))
}

export function isMatch({ column, values, negate }: HitFilter, own: string | number | null): boolean {
  const ignoresCase = ['device', 'browser', 'os'].includes(column)
  const toComparable = (value: string | number | null) =>
    ignoresCase && value !== null ? `${value}`.toLowerCase() : value
  return values.some((value) => toComparable(value) === toComparable(own)) !== negate
}

export function getValue(hit: Hit, column: HitColumn): string | number | null {
  if (column === 'source') return toSource(hit)
  if (column === 'channel') return toTrafficChannel(hit)
  // Worlds have no parameters.
  return isParamColumn(column) ? null : hit[column]
}

function createKeyLister({ groupBy }: HitQuery): (hit: Hit) => Key[] {
  if (groupBy.by === 'total') return () => [null]
  if (groupBy.by === 'time') return (hit) => [findBucket(groupBy.starts, hit.at)]
  if (groupBy.by === 'linkDay') return ({ linkId, at }) => [linkId * LINK_DAYS + toDay(at)]
  if (groupBy.by === 'linkGroup')
    return ({ linkId }) => [
      ...new Set(groupBy.groups.filter((each) => each.linkId === linkId).map(({ group }) => group)),
    ]
  return (hit) => [getValue(hit, groupBy.by) ?? groupBy.nullAs]
}

/** The last start at or before the moment. */
export function findBucket(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= at) low = middle
    else high = middle - 1
  }
  return starts[low] as number
}
