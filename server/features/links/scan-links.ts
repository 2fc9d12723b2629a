// Searches the links of a workspace in steps of some kilobytes, and gives the event loop back between two steps. SQLite
// runs on the loop: one statement that searches 100 MB holds it for half a second.

import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { Actor } from '../accounts/access/actor.ts'

/** A step searches at most this much, but always one link. */
const STEP_ROWS = 500
const STEP_BYTES = 256 * 1024

/** The place of a link in its list. `bytes` is the size of its texts: SQLite knows it without reading them. */
export interface LinkPosition {
  id: number
  value: string | number
  bytes: number
}

export const LINK_BYTES = sql<number>`octet_length(search_text) + octet_length(destination_url)
  + octet_length(geo_targeting) + octet_length(device_targeting) + coalesce(octet_length(expired_url), 0)
  + coalesce(octet_length(comments), 0) + coalesce(octet_length(preview_image), 0)`.as('bytes')

export interface LinkScan {
  /** The links that pass the filters. */
  filtered: SelectQueryBuilder<Tables, 'links', object>
  column: RawBuilder<string | number>
  direction: 'asc' | 'desc'
  after: { value: string | number; id: number } | undefined
  limit: number
  /** Ends the scan early when the caller is gone. */
  signal?: AbortSignal
}

/** Finds the first `limit` links after the position, and the number of all that pass the filters. */
export async function scanLinks(
  connection: Connection,
  actor: Actor,
  { filtered, column, direction, after, limit, signal }: LinkScan,
): Promise<{ positions: LinkPosition[]; total: number }> {
  const compare = direction === 'asc' ? comparePositions : (a: Place, b: Place) => comparePositions(b, a)
  const page = filtered.select(['id', column.as('value'), LINK_BYTES])
  let positions: LinkPosition[] = []
  let total = 0
  for await (const { from, to } of listSteps(connection, actor)) {
    await takeTurn()
    if (signal?.aborted) break
    const found = (await page.where('id', '>=', from).where('id', '<=', to).execute()) as LinkPosition[]
    total += found.length
    const candidates = after ? found.filter((each) => compare(each, after) > 0) : found
    positions = [...positions, ...candidates].sort(compare).slice(0, limit)
  }
  return { positions, total }
}

/** Finds all links that pass the filters, in the order of their ids. A step can be empty. Ends early when the caller is gone. */
export async function* scanAllLinks(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  filtered: LinkScan['filtered'],
  signal: AbortSignal,
): AsyncGenerator<Pick<LinkPosition, 'id' | 'bytes'>[]> {
  const page = filtered.select(['id', LINK_BYTES]).orderBy('id')
  for await (const { from, to } of listSteps(connection, actor)) {
    await takeTurn()
    if (signal.aborted) return
    yield await page.where('id', '>=', from).where('id', '<=', to).execute()
  }
}

type Place = Pick<LinkPosition, 'id' | 'value'>

/** As SQLite compares: texts by their bytes. */
function comparePositions(a: Place, b: Place): number {
  if (typeof a.value === 'number' || typeof b.value === 'number') {
    return Number(a.value) - Number(b.value) || a.id - b.id
  }
  return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)) || a.id - b.id
}

/** The links of the workspace, as ranges of ids. */
async function* listSteps(connection: Connection, { workspaceId }: Pick<Actor, 'workspaceId'>) {
  for (let last = 0; ; ) {
    await takeTurn()
    const links = await connection
      .selectFrom('links')
      .select(['id', sql<number>`octet_length(search_text)`.as('bytes')])
      .where('workspace_id', '=', workspaceId)
      .where('id', '>', last)
      .orderBy('id')
      .limit(STEP_ROWS)
      .execute()
    for (const step of cutIntoSteps(links, STEP_BYTES)) {
      const from = last + 1
      last = step.at(-1)?.id ?? last
      yield { from, to: last }
    }
    if (links.length < STEP_ROWS) return
  }
}

/** Links of 8 KB that are counted in 7 ms: their texts are not read to their ends. */
const COUNT_ROWS = 2000

/** Counts the links that pass the filters. Where no text is searched, a step can have more rows. */
export async function countFilteredLinks(
  connection: Connection,
  { workspaceId }: Actor,
  filtered: LinkScan['filtered'],
  signal?: AbortSignal,
): Promise<number> {
  const count = filtered.select((e) => e.fn.countAll<number>().as('links'))
  let total = 0
  for (let from = 0; ; ) {
    await takeTurn()
    const next = await connection
      .selectFrom('links')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('id', '>=', from)
      .orderBy('id')
      .offset(COUNT_ROWS)
      .limit(1)
      .executeTakeFirst()
    const step = count.where('id', '>=', from)
    const { links } = await (next ? step.where('id', '<', next.id) : step).executeTakeFirstOrThrow()
    total += Number(links)
    if (!next || signal?.aborted) return total
    from = next.id
  }
}
