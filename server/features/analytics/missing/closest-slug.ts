// Finds the link whose slug is closest to one that somebody asked for in vain. The work is bounded: it looks up the slugs
// that are one mistake away, and reads the slugs that stand beside it in the index, however many links there are.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Database } from '../../../storage/database/database.ts'
import { queryRaw } from '../../../storage/database/raw-query.ts'
import { listVariants, pickClosest } from './similar-slugs.ts'

export interface MissingSlug {
  /** '' is the default domain. */
  domain: string
  /** As the link of the slug would have it. */
  slugKey: string
}

export interface ClosestLink {
  id: number
  slug: string
}

export interface SlugNeighbours {
  /** The link that has this very slug now. */
  linkId: number | null
  closest: ClosestLink | null
}

interface SlugSearch extends MissingSlug {
  workspaceId: number
  caseSensitive: boolean
  now: number
}

interface Candidate extends ClosestLink {
  slugKey: string
  /** 1: the link answers visitors. PostgreSQL answers with a boolean. */
  live: number | boolean
}

/** Slugs to read on each side of the one that was asked for. */
const BESIDE = 200

/** Works for one slug a turn of the event loop. */
export async function findNeighbours(
  db: Pick<Database, 'engine' | 'read'>,
  search: SlugSearch,
): Promise<SlugNeighbours> {
  await takeTurn()
  const { slugKey } = search
  const typed = [slugKey, ...listVariants(slugKey, search.caseSensitive)]
  const found = await listCandidates(db, search, { by: 'slug', slugKeys: typed })
  const own = found.find((candidate) => candidate.slugKey === slugKey)
  if (own) return { linkId: own.id, closest: null }
  const before = await listCandidates(db, search, { by: 'before', slugKey })
  const after = await listCandidates(db, search, { by: 'after', slugKey })
  const live = [...found, ...before, ...after].filter((candidate) => candidate.live)
  const closest = pickClosest(slugKey, live)
  return { linkId: null, closest: closest ? { id: closest.id, slug: closest.slug } : null }
}

type Place = { by: 'slug'; slugKeys: string[] } | { by: 'before' | 'after'; slugKey: string }

const COLUMNS = 'id, slug, slug_key, workspace_id, deleted_at, archived, suspended_at, expires_at'

/**
 * Reads the index on slugs. A domain may have links of a former holder too, so the bound is on what is read, before the
 * links of other workspaces are left out.
 */
function listCandidates(
  db: Pick<Database, 'engine' | 'read'>,
  { domain, workspaceId, now }: SlugSearch,
  place: Place,
): Promise<Candidate[]> {
  return queryRaw<Candidate>(db, ({ isInList }, bind) => {
    const onDomain = `purged_at is null and domain = ${bind(domain)}`
    const where = () => {
      if (place.by === 'slug') return isInList('slug_key', bind(place.slugKeys))
      const [operator, order] = place.by === 'before' ? ['<', 'desc'] : ['>', 'asc']
      return `slug_key ${operator} ${bind(place.slugKey)} order by slug_key ${order} limit ${BESIDE}`
    }
    return `select id, slug, slug_key as "slugKey",
        archived = 0 and suspended_at is null and (expires_at is null or expires_at > ${bind(now)}) as live
      from (select ${COLUMNS} from links where ${onDomain} and ${where()}) as candidates
      where workspace_id = ${bind(workspaceId)} and deleted_at is null`
  })
}
