// Searches the links of a workspace in steps of some kilobytes, and gives the event loop back between two steps. SQLite
// runs on the loop: one statement that searches 100 MB holds it for half a second.

import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { Actor } from '../accounts/access/actor.ts'

/** A step that searches texts reads at most this much, but always one link. */
const STEP_BYTES = 256 * 1024

/** The place of a link in its list. `bytes` is the size of its texts: SQLite knows it without reading them. */
export interface LinkPosition {
  id: number
  value: string | number
  bytes: number
}

export const LINK_BYTES = sql<number>`octet_length(search_text) + octet_length(destination_url)
  + octet_length(geo_targeting) + octet_length(device_targeting) + octet_length(rules) + coalesce(octet_length(split), 0) + coalesce(octet_length(expired_url), 0)
  + coalesce(octet_length(comments), 0) + coalesce(octet_length(preview_image), 0)`.as('bytes')

export interface LinkScan {
  /** The links that pass the filters. */
  filtered: SelectQueryBuilder<Tables, 'links', object>
  column: RawBuilder<string | number>
  direction: 'asc' | 'desc'
  after: { value: string | number; id: number } | undefined
  limit: number
  /** Whether the filters read the texts of links, which can be long. */
  searchesText: boolean
  /** Ends the scan early when the caller is gone. */
  signal?: AbortSignal
}

interface ScannedLinks {
  positions: LinkPosition[]
  total: number
}

/**
 * Finds the first `limit` links after the position, and the number of all that pass the filters. It counts the links of a
 * step, and reads those only that come before the last one of the page. To read each link of a tag with 100,000 takes
 * twice as long.
 */
export async function scanLinks(
  connection: Connection,
  actor: Actor,
  { filtered, column, direction, after, limit, searchesText, signal }: LinkScan,
): Promise<ScannedLinks> {
  const opposite = direction === 'asc' ? 'desc' : 'asc'
  const compare = toComparison(direction)
  let positions: LinkPosition[] = []
  let total = 0
  // New links have high ids: the first steps have most of the page.
  const steps = searchesText ? listTextSteps : listRowSteps
  for await (const range of steps(connection, actor, direction)) {
    await takeTurn()
    if (signal?.aborted) break
    const step = selectRange(filtered, range)
    // The plus stops SQLite from using the index of the order, which would scan all links for each step.
    const value = sql<string | number>`+${column}`
    const best =
      direction === 'asc' ? sql<string | number>`min(${value})` : sql<string | number>`max(${value})`
    const counted = await step
      .select((e) => [e.fn.countAll<number>().as('links'), best.as('best')])
      .executeTakeFirstOrThrow()
    total += Number(counted.links)
    const last = positions.length === limit ? positions.at(-1) : undefined
    // A link with the value of the last one comes after it: its id does.
    if (counted.best === null || (last && compare({ value: counted.best, id: last.id }, last) >= 0)) continue
    let page = step.select(['id', column.as('value'), LINK_BYTES])
    if (after) page = page.where(isAfter(value, direction, after))
    if (last) page = page.where(isAfter(value, opposite, last))
    const found = await page.orderBy(value, direction).orderBy('id', direction).limit(limit).execute()
    positions = [...positions, ...(found as LinkPosition[])].sort(compare).slice(0, limit)
  }
  return { positions, total }
}

interface IdRange {
  from: number
  to: number
}

/** The links of a step. SQLite finds them by their ids, never by another index. */
export const selectRange = <Columns>(
  filtered: SelectQueryBuilder<Tables, 'links', Columns>,
  { from, to }: IdRange,
) => filtered.where('id', '>=', from).where('id', '<=', to)

export function isAfter(
  column: Expression<string | number>,
  direction: 'asc' | 'desc',
  { value, id }: Place,
) {
  const comparison = direction === 'asc' ? sql`>` : sql`<`
  return sql<SqlBool>`(${column} ${comparison} ${value} or (${column} = ${value} and id ${comparison} ${id}))`
}

/** Finds all links that pass the filters, in the order of their ids. A step can be empty. Ends early when the caller is gone. */
export async function* scanAllLinks(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  filtered: LinkScan['filtered'],
  signal: AbortSignal,
): AsyncGenerator<Pick<LinkPosition, 'id' | 'bytes'>[]> {
  const page = filtered.select(['id', LINK_BYTES]).orderBy('id')
  for await (const range of listTextSteps(connection, actor, 'asc')) {
    await takeTurn()
    if (signal.aborted) return
    yield await selectRange(page, range).execute()
  }
}

type Place = Pick<LinkPosition, 'id' | 'value'>

const toComparison = (direction: 'asc' | 'desc') =>
  direction === 'asc' ? comparePositions : (a: Place, b: Place) => comparePositions(b, a)

/** Compares texts by their bytes, as SQLite does. */
function comparePositions(a: Place, b: Place): number {
  if (typeof a.value === 'number' || typeof b.value === 'number') {
    return Number(a.value) - Number(b.value) || a.id - b.id
  }
  return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)) || a.id - b.id
}

/** Links of 8 KB that are counted in 7 ms: their texts are not read to their ends. */
const STEP_ROWS = 2000
const ID_MAX = Number.MAX_SAFE_INTEGER

/** The links of the workspace as ranges of ids with a fixed number of links, ascending or descending. */
async function* listRowSteps(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  direction: 'asc' | 'desc',
): AsyncGenerator<IdRange> {
  const isAscending = direction === 'asc'
  for (let start = isAscending ? 0 : ID_MAX; ; ) {
    await takeTurn()
    const next = await connection
      .selectFrom('links')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('id', isAscending ? '>=' : '<=', start)
      .orderBy('id', direction)
      .offset(STEP_ROWS)
      .limit(1)
      .executeTakeFirst()
    if (isAscending) yield { from: start, to: next ? next.id - 1 : ID_MAX }
    else yield { from: next ? next.id + 1 : 0, to: start }
    if (!next) return
    start = next.id
  }
}

const TEXT_BYTES = sql<number>`octet_length(search_text)`

/** The same, and the texts of each range are short together. */
async function* listTextSteps(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  direction: 'asc' | 'desc',
): AsyncGenerator<IdRange> {
  for await (const range of listRowSteps(connection, actor, direction)) {
    await takeTurn()
    const all = connection.selectFrom('links').where('workspace_id', '=', actor.workspaceId)
    const texts = selectRange(all, range)
    const { bytes } = await texts
      .select(sql<number>`sum(${TEXT_BYTES})`.as('bytes'))
      .executeTakeFirstOrThrow()
    if (Number(bytes) <= STEP_BYTES) yield range
    else {
      const links = await texts
        .select(['id', TEXT_BYTES.as('bytes')])
        .orderBy('id', direction)
        .execute()
      for (const step of cutIntoSteps(links, STEP_BYTES)) yield toRange(step, direction)
    }
  }
}

function toRange(step: { id: number }[], direction: 'asc' | 'desc'): IdRange {
  const [first, last] = [step[0]?.id ?? 0, step.at(-1)?.id ?? 0]
  return direction === 'asc' ? { from: first, to: last } : { from: last, to: first }
}

/** Counts the links that pass the filters, in steps on SQLite. PostgreSQL counts in other processes. */
export async function countFilteredLinks(
  { engine, read }: Pick<Database, 'engine' | 'read'>,
  actor: Actor,
  filtered: LinkScan['filtered'],
  signal?: AbortSignal,
): Promise<number> {
  const count = filtered.select((e) => e.fn.countAll<number>().as('links'))
  if (engine === 'postgres') return Number((await count.executeTakeFirstOrThrow()).links)
  let total = 0
  for await (const range of listRowSteps(read, actor, 'asc')) {
    total += (await selectRange(count, range).executeTakeFirstOrThrow()).links
    if (signal?.aborted) break
  }
  return total
}
