// Answers a question about unknown slugs on a workspace's domains, with the closest slugs that exist.

import { createTopList } from '../../../lib/concurrency/top-list.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { FilterValues } from '../../../storage/filter-grammar.ts'
import { type MissSum, sumMisses } from '../../hits/misses/sum-misses.ts'
import { listCountedDomains } from '../../links/domains/counted-domains.ts'
import { type AnswerContext, resolveRange, type WorkspaceScope } from '../resolve-selection.ts'
import type { TimeRange } from '../timeline.ts'
import {
  createLookUpBudget,
  findNeighbors,
  type LookUpBudget,
  type MissingSlug,
  type SlugNeighbors,
} from './closest-slug.ts'
import type { MissingAnswerData, MissingQuestion } from './schema.ts'

export interface MissedSlug extends MissingSlug, MissSum {
  caseSensitive: boolean
}

/** @throws Failure `invalid` for an empty range */
export async function answerMissing(
  needs: AnswerContext,
  actor: WorkspaceScope,
  question: MissingQuestion,
): Promise<MissingAnswerData> {
  const range = await resolveRange(needs, actor, question)
  const isAsked = isDomainAsked(needs, question.filters)
  const { slugs, otherHits } = await listMissed(needs, actor, range, isAsked)
  const budget = createLookUpBudget()
  const data: MissingAnswerData['data'] = []
  for (const missed of slugs.slice(0, question.limit)) {
    const neighbors = await findMissedNeighbors(needs, actor, missed, budget)
    data.push(toMissingSlug(needs, missed, neighbors))
  }
  return { data, otherHits }
}

/** Says of a domain whether the filters of a question take it. */
function isDomainAsked(
  { defaultDomain }: AnswerContext,
  filters: FilterValues[],
): (domain: string) => boolean {
  return (domain) => {
    const name = (domain || defaultDomain).toLowerCase()
    return filters.every(({ values, negate }) => values.includes(name) !== negate)
  }
}

const HOUR_MS = 60 * 60 * 1000
const toHour = (at: number) => at - (at % HOUR_MS)

/** More than an answer or a day's reports have. */
const SLUGS_KEPT = 2_000

/** The slugs of all domains that pass `isAsked`, most requested first: at most SLUGS_KEPT. */
export async function listMissed(
  { db }: Pick<AnswerContext, 'db'>,
  { workspaceId }: WorkspaceScope,
  { start, end }: TimeRange,
  isAsked: (domain: string) => boolean,
): Promise<{ slugs: MissedSlug[]; otherHits: number }> {
  const slugs = createTopList<MissedSlug>(SLUGS_KEPT, (a, b) => b.hits - a.hits || b.lastAt - a.lastAt)
  let otherHits = 0
  for (const { domain, holder, since, caseSensitive } of await listCountedDomains(db, workspaceId)) {
    if (!isAsked(domain)) continue
    // An hour counts whole.
    const hours = { since: toHour(Math.max(start, since)), until: end }
    const sums = await sumMisses(db, { domain, workspaceId: holder, ...hours })
    otherHits += sums.otherHits
    for (const [slugKey, sum] of sums.slugs) await slugs.add({ domain, slugKey, caseSensitive, ...sum })
  }
  return { slugs: slugs.list(), otherHits }
}

export const findMissedNeighbors = (
  { db, now }: Pick<AnswerContext, 'db' | 'now'>,
  { workspaceId }: WorkspaceScope,
  { domain, slugKey, caseSensitive }: MissedSlug,
  budget: LookUpBudget,
): Promise<SlugNeighbors> =>
  findNeighbors(db, { domain, slugKey, caseSensitive, workspaceId, now: now() }, budget)

const toMissingSlug = (
  { defaultDomain }: AnswerContext,
  { domain, slugKey, hits, visitors, lastAt }: MissedSlug,
  { linkId, closest }: SlugNeighbors,
): MissingAnswerData['data'][number] => ({
  slug: slugKey,
  domain: domain || defaultDomain,
  hits,
  visitors,
  lastAt: toIso(lastAt),
  closest: closest?.slug ?? null,
  closestLinkId: closest?.id ?? null,
  linkId,
})
