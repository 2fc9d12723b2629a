// Reads the links that were clicked last before a node listens: else every click of a restarted node is a miss, and all
// of them go to PostgreSQL at once. SQLite does not need this: a read of it takes microseconds in the same process.

import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { withTimeout } from '../../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { type LinkCache, toCachedLink } from './cache.ts'
import type { DomainDirectory } from './names/domain-directory.ts'
import { answersOn, selectCachedLinks } from './resolve.ts'

export interface PreloadNeeds {
  db: Database
  cache: Pick<LinkCache, 'set' | 'version' | 'bytes'>
  domains: Pick<DomainDirectory, 'get'>
  linksMax?: number
  /** With fewer links, their misses are no herd. */
  linksMin?: number
  /** A node starts to listen after this time, however much is read. */
  withinMs?: number
}

/** The links of one query take about a megabyte. */
const AT_ONCE = 1_000
/** Half of the cache's size, so that long destinations do not push out the most recently clicked links. */
const BYTES_MAX = 64 * 1024 * 1024

/** Reads no more after a failure, because clicks read the links too. @returns how many links were read */
export async function preloadLinks(needs: PreloadNeeds): Promise<number> {
  if (needs.db.engine !== 'postgres') return 0
  const startedAt = performance.now()
  const progress = { links: 0, stopped: false }
  const late = () => {
    progress.stopped = true
  }
  try {
    await withTimeout(preload(needs, progress), needs.withinMs ?? 3_000, late)
  } catch (error) {
    log.warn('links_not_preloaded', describeError(error))
  }
  const { links } = progress
  if (links > 0) log.info('links_preloaded', { links, ms: Math.round(performance.now() - startedAt) })
  return links
}

interface Progress {
  links: number
  stopped: boolean
}

async function preload(
  { db, cache, domains, linksMax = 100_000, linksMin = 1_000 }: PreloadNeeds,
  progress: Progress,
) {
  const ids = await listLastClicked(db, linksMax, linksMin)
  const pace = createPacer()
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const version = cache.version()
    const rows = await selectCachedLinks(db)
      .where('links.id', 'in', ids.slice(from, from + AT_ONCE))
      .execute()
    for (const row of rows) {
      if (progress.stopped || cache.bytes() > BYTES_MAX) return
      await pace()
      const [domain, link] = [domains.get(row.domain), toCachedLink(row)]
      // Two workspaces may claim a name, and each may have a link with the slug.
      if (!domain || !answersOn(domain, link)) continue
      cache.set(row.domain, row.slug_key, link, version)
      progress.links++
    }
  }
}

/** The ids of the links that were clicked last, the last one first; none where there are few links. */
async function listLastClicked(db: Database, linksMax: number, linksMin: number): Promise<number[]> {
  const clicked = db.read
    .selectFrom('links')
    .select('id')
    .where('deleted_at', 'is', null)
    .where('last_clicked_at', 'is not', null)
  const enough = await clicked
    .limit(1)
    .offset(linksMin - 1)
    .executeTakeFirst()
  if (!enough) return []
  const rows = await clicked.orderBy('last_clicked_at', 'desc').limit(linksMax).execute()
  return rows.map(({ id }) => id)
}
