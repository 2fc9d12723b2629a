// Sums requests for unknown slugs, per domain and slug. Strangers choose the slugs, so the number of sums is limited, and the
// rows are read in steps, because SQLite runs on the event loop.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { OTHER_SLUGS } from './store-misses.ts'

export interface MissSelection {
  domain: string
  /** The domain's workspace; 0 for the default domain. */
  workspaceId: number
  /** Hours that begin from `since` on and before `until`. */
  since: number
  until: number
}

export interface MissSum {
  hits: number
  /** Each counts once a day. */
  visitors: number
  lastAt: number
}

export interface MissSums {
  slugs: Map<string, MissSum>
  /** Requests for slugs without a separate sum. */
  otherHits: number
}

const ROWS_PER_STEP = 1000
/** 10 MB of memory with usual slugs. Above this number, the slugs with the fewest requests share one sum. */
const SLUGS_MAX = 50_000

/** Robots do not count. */
export async function sumMisses(
  { read }: Pick<Database, 'read'>,
  { domain, workspaceId, since, until }: MissSelection,
  slugsMax = SLUGS_MAX,
): Promise<MissSums> {
  const sums: MissSums = { slugs: new Map(), otherHits: 0 }
  let after = { hour: since, slug: OTHER_SLUGS }
  for (let isFirst = true; ; isFirst = false) {
    await takeTurn()
    const rows = await read
      .selectFrom('misses')
      .select(['hour', 'slug', 'hits', 'visitors', 'last_at'])
      .where('domain', '=', domain)
      .where('workspace_id', '=', workspaceId)
      .where(sql<boolean>`(hour, slug) ${sql.raw(isFirst ? '>=' : '>')} (${after.hour}, ${after.slug})`)
      .where('hour', '<', until)
      .orderBy('hour')
      .orderBy('slug')
      .limit(ROWS_PER_STEP)
      .execute()
    for (const { slug, hits, visitors, last_at } of rows) {
      if (slug === OTHER_SLUGS) sums.otherHits += hits
      else if (hits > 0) addMiss(sums.slugs, slug, { hits, visitors, lastAt: last_at })
    }
    if (sums.slugs.size > slugsMax) dropRarest(sums, slugsMax / 2)
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_PER_STEP) return sums
    after = last
  }
}

function addMiss(slugs: Map<string, MissSum>, slug: string, miss: MissSum): void {
  const sum = slugs.get(slug)
  if (!sum) {
    slugs.set(slug, miss)
    return
  }
  sum.hits += miss.hits
  sum.visitors += miss.visitors
  sum.lastAt = Math.max(sum.lastAt, miss.lastAt)
}

/** A flood of guesses requests each slug once, so frequent slugs stay. */
function dropRarest(sums: MissSums, slugsMax: number): void {
  for (let hitsMax = 1; sums.slugs.size > slugsMax; hitsMax *= 2) {
    for (const [slug, { hits }] of sums.slugs) {
      if (hits > hitsMax) continue
      sums.slugs.delete(slug)
      sums.otherHits += hits
    }
  }
}
