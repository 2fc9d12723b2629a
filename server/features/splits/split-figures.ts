// Counts clicks and leads of a link's variants since its split has begun.

import { Failure, unavailable } from '../../lib/failure.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { countLeads } from '../analytics/count-leads.ts'
import type { Variant, VariantFigures } from '../links/split/schema.ts'
import { findBest, toFigures, type VariantCounts } from './compare-variants.ts'

export interface SplitNeeds {
  db: Database
  hits: Pick<HitReader, 'ask'>
  now: () => number
  /** Assigns the newest leads to their links first. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

export interface RunningSplit {
  workspaceId: number
  linkId: number
  variants: Variant[]
  startedAt: number
}

export interface SplitFigures {
  variants: VariantFigures[]
  /** The label of the variant that is better than each other one. */
  best: string | null
}

/** @throws Failure `unavailable` when the engine cannot answer */
export async function readSplitFigures(
  { db, hits, now, resolvePendingAttribution }: SplitNeeds,
  { workspaceId, linkId, variants, startedAt }: RunningSplit,
): Promise<SplitFigures> {
  await resolvePendingAttribution(workspaceId)
  const filters = [{ column: 'linkId' as const, values: [linkId], negate: false }]
  const range = { workspaceId, start: startedAt, end: now() + 1, filters }
  const limit = 1000
  const [clicks, leads] = await Promise.all([
    hits
      .ask({ ...range, classes: ['human'], groupBy: { by: 'variant', limit, nullAs: '' } })
      .catch((error: unknown) => {
        throw error instanceof Failure ? error : unavailable(error)
      }),
    countLeads(db, { ...range, model: 'last' }, { by: 'variant', limit }),
  ])
  const clicksOf = new Map(clicks.map(({ key, clicks }) => [String(key), clicks]))
  const leadsOf = new Map(leads.map(({ key, leads }) => [key === null ? '' : String(key), leads]))
  const counts = variants.map(
    ({ label }): VariantCounts => ({ clicks: clicksOf.get(label) ?? 0, leads: leadsOf.get(label) ?? 0 }),
  )
  const best = findBest(counts)
  return {
    variants: variants.map((variant, index) => toFigures(variant, counts[index] as VariantCounts)),
    best: best === undefined ? null : (variants[best]?.label ?? null),
  }
}
