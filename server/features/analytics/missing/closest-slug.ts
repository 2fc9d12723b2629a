// Finds the link with the slug closest to an unknown one. The work is bounded: it looks up the slugs at distance one,
// and reads the neighbors in the index, however many links there are.

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

export interface SlugNeighbors {
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
  /** 1: the link is one of the workspace, and not deleted. PostgreSQL answers with a boolean. */
  own: number | boolean
  /** 1: the link answers visitors. */
  live: number | boolean
}

/** The number of lookups that one answer may still make. */
export interface LookUpBudget {
  left: number
}

/** Some tenth of a second for each 100,000, over many turns. */
const LOOK_UPS_MAX = 200_000
export const createLookUpBudget = (): LookUpBudget => ({ left: LOOK_UPS_MAX })

/** Slugs to read on each side of the one that was asked for. */
const BESIDE = 200
const LOOK_UPS_AT_ONCE = 500

/** Works in steps of some milliseconds, one a turn of the event loop. */
export async function findNeighbors(
  db: Database,
  search: SlugSearch,
  budget: LookUpBudget,
): Promise<SlugNeighbors> {
  const { slugKey } = search
  await takeTurn()
  const before = await listCandidates(db, search, { by: 'before', slugKey })
  const same = before.find((candidate) => candidate.own && candidate.slugKey === slugKey)
  if (same) return { linkId: same.id, closest: null }
  await takeTurn()
  const after = await listCandidates(db, search, { by: 'after', slugKey })
  const known = Math.max(countUnread(slugKey, before), countUnread(slugKey, after))
  await takeTurn()
  const typed = listVariants(slugKey, search.caseSensitive, budget.left > 0 ? known : 0)
  budget.left -= typed.length
  const candidates = [...before, ...after]
  for (let from = 0; from < typed.length; from += LOOK_UPS_AT_ONCE) {
    await takeTurn()
    const slugKeys = typed.slice(from, from + LOOK_UPS_AT_ONCE)
    candidates.push(...(await listCandidates(db, search, { by: 'slug', slugKeys })))
  }
  await takeTurn()
  const closest = pickClosest(
    slugKey,
    candidates.filter(({ own, live }) => own && live),
  )
  return { linkId: null, closest: closest ? { id: closest.id, slug: closest.slug } : null }
}

/**
 * All slugs that share a longer prefix than the farthest slug read are already read, so a mistake after it needs no
 * lookup.
 * @returns the last position of mistakes to look up
 */
function countUnread(slugKey: string, beside: Candidate[]): number {
  const farthest = beside.at(-1)
  if (!farthest || beside.length < BESIDE) return 0
  const other = Array.from(farthest.slugKey)
  const characters = Array.from(slugKey)
  const differs = characters.findIndex((character, n) => character !== other[n])
  return (differs === -1 ? characters.length : differs) + 1
}

type Place = { by: 'slug'; slugKeys: string[] } | { by: 'before' | 'after'; slugKey: string }

/**
 * Reads the index on slugs. A domain may also have links of a former holder, so the bound applies before links of
 * other workspaces are left out.
 */
function listCandidates(
  db: Database,
  { domain, workspaceId, now }: SlugSearch,
  place: Place,
): Promise<Candidate[]> {
  return queryRaw<Candidate>(db, ({ isInList }, bind) => {
    const onDomain = `purged_at is null and domain = ${bind(domain)}`
    const where = () => {
      if (place.by === 'slug') return isInList('slug_key', bind(place.slugKeys))
      const [operator, order] = place.by === 'before' ? ['<=', 'desc'] : ['>', 'asc']
      return `slug_key ${operator} ${bind(place.slugKey)} order by slug_key ${order} limit ${BESIDE}`
    }
    return `select id, slug, slug_key as "slugKey",
        workspace_id = ${bind(workspaceId)} and deleted_at is null as own,
        archived = 0 and suspended_at is null and (expires_at is null or expires_at > ${bind(now)}) as live
      from links where ${onDomain} and ${where()}`
  })
}
