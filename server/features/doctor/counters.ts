// Compares the counters of links with the hits while the server keeps counting. Both sides only grow: it reads one,
// waits until the other has reached the same marks, and reads that. Clicks that the second one lacks are lost.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { HitInspection, LinkClicks } from '../../storage/hits/hit-engine.ts'
import type { RowReader } from './needs.ts'

export interface CounterNeeds {
  rows: Pick<RowReader, 'read'>
  inspectHits(withClicks: boolean): Promise<HitInspection | undefined>
  /** Time limit for a side to catch up with the other. */
  waitMs?: number
}

/** A link whose counter differs from its hits. */
export interface CounterDifference {
  workspaceId: number
  linkId: number
  /** Clicks of the hit store that the counter lacks; negative when the hit store lacks clicks. */
  missing: number
}

export interface CounterComparison {
  differences: CounterDifference[]
  clicks: number
  links: number
  /** Nodes with batches that one side lacks. The clicks of such batches are not judged. */
  behind: string[]
}

type Marks = Record<string, number>

const ROUNDS = 3
const WAIT_MS = 3_000
const RETRY_MS = 250

/**
 * ClickHouse has the hits of a batch a moment before its mark, so a difference counts when three rounds in a row show it.
 * @returns undefined where no hit was ever loaded and no batch counted
 */
export async function compareCounters(needs: CounterNeeds): Promise<CounterComparison | undefined> {
  let comparison = await compareOnce(needs)
  for (let round = 1; round < ROUNDS && comparison && comparison.differences.length > 0; round++) {
    await Bun.sleep(RETRY_MS)
    const next = await compareOnce(needs)
    comparison = next && { ...next, differences: intersect(comparison.differences, next.differences) }
  }
  return comparison
}

async function compareOnce(needs: CounterNeeds): Promise<CounterComparison | undefined> {
  const before = await listRowClicks(needs.rows.read)
  // The marks after the counters: the counters have no later batch.
  const countedBefore = await readCountMarks(needs.rows.read)
  const hitsLag = await waitFor(countedBefore, async () => (await needs.inspectHits(false))?.marks, needs)
  const hits = await needs.inspectHits(true)
  if (!hits?.clicks) return Object.keys(countedBefore).length === 0 ? undefined : withoutHits(before)
  const rowsLag = await waitFor(hits.marksAfter, () => readCountMarks(needs.rows.read), needs)
  const after = await listRowClicks(needs.rows.read)
  return {
    differences: [
      ...(hitsLag.length === 0 ? findDifferences(before, hits.clicks, -1) : []),
      ...(rowsLag.length === 0 ? findDifferences(after, hits.clicks, 1) : []),
    ],
    clicks: hits.clicks.clicks.reduce((sum, clicks) => sum + clicks, 0),
    links: after.linkIds.length,
    behind: [...new Set([...hitsLag, ...rowsLag])],
  }
}

/** Lists of equal length. */
interface RowClicks {
  /** Ascending. */
  linkIds: number[]
  workspaceIds: number[]
  /** Those that have hits: without `clicks_before`. */
  clicks: number[]
}

/** Two milliseconds of SQLite. */
const LINKS_AT_ONCE = 1000

/** Reads the click counters of all links, a few thousand at a time, so that redirects run in between. */
async function listRowClicks(read: Connection): Promise<RowClicks> {
  const found: RowClicks = { linkIds: [], workspaceIds: [], clicks: [] }
  for (let last = 0; ; ) {
    await takeTurn()
    const rows = await listNextLinks(read, last)
    for (const { id, workspace_id, clicks, clicks_before, new_clicks } of rows) {
      found.linkIds.push(id)
      found.workspaceIds.push(workspace_id)
      found.clicks.push(clicks - clicks_before + (new_clicks ?? 0))
    }
    if (rows.length < LINKS_AT_ONCE) return found
    last = rows.at(-1)?.id ?? last
  }
}

/** Both counters in one statement: a job moves clicks from one to the other (links/counters.ts). */
function listNextLinks(read: Connection, after: number) {
  return read
    .selectFrom('links')
    .leftJoin('link_counters', 'link_counters.link_id', 'links.id')
    .select(['links.id', 'links.workspace_id', 'links.clicks', 'links.clicks_before'])
    .select('link_counters.clicks as new_clicks')
    .where('links.id', '>', after)
    .orderBy('links.id')
    .limit(LINKS_AT_ONCE)
    .execute()
}

/** The last batch of each node that the counters have. */
async function readCountMarks(read: Connection): Promise<Record<string, number>> {
  const marks = await read.selectFrom('click_marks').selectAll().where('node', '!=', '').execute()
  return Object.fromEntries(marks.map(({ node, batch }) => [node, batch]))
}

/** Batches were counted, and the hit store has nothing. */
const withoutHits = (rows: RowClicks): CounterComparison => ({
  differences: findDifferences(rows, { linkIds: new Float64Array(), clicks: new Float64Array() }, -1),
  clicks: 0,
  links: rows.linkIds.length,
  behind: [],
})

/** @returns the nodes that have not reached their mark in time */
async function waitFor(
  wanted: Marks,
  readMarks: () => Promise<Marks | undefined>,
  { waitMs = WAIT_MS }: CounterNeeds,
): Promise<string[]> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const marks = await readMarks()
    // There is no hit store that could catch up.
    if (!marks) return []
    const behind = Object.keys(wanted).filter((node) => (marks[node] ?? 0) < (wanted[node] ?? 0))
    if (behind.length === 0 || performance.now() > deadline) return behind
    await Bun.sleep(RETRY_MS)
  }
}

/** Links with a counter above their hits (-1), or below them (1). Hits of a deleted link count nowhere. */
function findDifferences(rows: RowClicks, hits: LinkClicks, sign: -1 | 1): CounterDifference[] {
  const counts = walk(hits)
  return [...listLinks(rows)].flatMap(({ workspaceId, linkId, clicks }) => {
    const missing = counts(linkId) - clicks
    return missing * sign > 0 ? [{ workspaceId, linkId, missing }] : []
  })
}

function* listLinks({ linkIds, workspaceIds, clicks }: RowClicks) {
  for (let i = 0; i < linkIds.length; i++)
    yield {
      linkId: linkIds[i] as number,
      workspaceId: workspaceIds[i] as number,
      clicks: clicks[i] as number,
    }
}

/** @returns the clicks of a link; call it with ascending ids */
function walk({ linkIds, clicks }: LinkClicks): (linkId: number) => number {
  let i = 0
  return (linkId) => {
    while (i < linkIds.length && (linkIds[i] as number) < linkId) i++
    return linkIds[i] === linkId ? (clicks[i] as number) : 0
  }
}

/** The differences that both have, as small as the smaller one. */
function intersect(before: CounterDifference[], now: CounterDifference[]): CounterDifference[] {
  const known = new Map(before.map((difference) => [difference.linkId, difference.missing]))
  return now.flatMap((difference) => {
    const other = known.get(difference.linkId)
    if (other === undefined || Math.sign(other) !== Math.sign(difference.missing)) return []
    const missing = Math.sign(other) * Math.min(Math.abs(other), Math.abs(difference.missing))
    return [{ ...difference, missing }]
  })
}
