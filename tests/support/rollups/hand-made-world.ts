// A few hits and questions about rules of the SQL that random worlds hardly ever need: ties at the ends of heads, values that
// are hot only outside of months, and visitors with two values. Each month has one head.

import { DAY_MS } from '../../../server/lib/utc-day.ts'
import type { Hit } from '../../../server/storage/hits/hit.ts'
import type { HitFilter, HitQuery } from '../../../server/storage/hits/hit-engine.ts'
import { createHit, createHitQuery } from '../../contracts/hit-engine.ts'
import type { HitWorld } from './hit-world.ts'

const MAY_1 = Date.UTC(2026, 4, 1) / DAY_MS
/** Days after the first of May. */
const [JUNE, JULY, END] = [31, 61, 70]
/** The last two days are not rolled up. */
const OPEN = END - 2

type Values = Partial<Hit> & { workspaceId: number }

function createHits(): Hit[] {
  const hits: Hit[] = []
  const add = (count: number, day: number, values: Values) => {
    for (let n = 0; n < count; n++)
      hits.push(
        createHit({ linkId: 1, visitor: `${hits.length + 1}`, ...values, at: (MAY_1 + day) * DAY_MS }),
      )
  }
  const addMonth = (day: number, workspaceId: number, column: keyof Hit, counts: Record<string, number>) => {
    for (const [value, count] of Object.entries(counts)) add(count, day, { workspaceId, [column]: value })
  }
  // The second of both months is the first of all. What is named third says how little the second may have.
  addMonth(3, 1, 'utmCampaign', { a: 9, b: 6, c: 1 })
  addMonth(JUNE + 3, 1, 'utmCampaign', { d: 9, b: 6, c: 1 })
  // The same for referrers, some of which belong to a source with a name.
  addMonth(3, 2, 'referrer', { 'google.com': 8, 'b.example': 7, 'facebook.com': 1 })
  addMonth(JUNE + 3, 2, 'referrer', { 't.co': 8, 'b.example': 7, 'facebook.com': 1 })
  addMonth(3, 3, 'referrer', { 'a.example': 8, 'facebook.com': 7, 'c.example': 1 })
  addMonth(JUNE + 3, 3, 'referrer', { 'd.example': 8, 'facebook.com': 7, 'c.example': 1 })
  // Hot on days that are rolled up without their month, and on a day that is not rolled up.
  addMonth(3, 4, 'utmTerm', { x: 19, y: 2, z: 1 })
  addMonth(JULY + 3, 4, 'utmTerm', { 'hot in July': 20 })
  addMonth(3, 5, 'utmTerm', { x: 19, y: 2, z: 1 })
  addMonth(OPEN, 5, 'utmTerm', { 'hot today': 20 })
  // No head names the value with as many clicks as the heads, and it comes first.
  addMonth(3, 7, 'utmCampaign', { z: 6, b: 3 })
  addMonth(JUNE + 3, 7, 'utmCampaign', { y: 6, b: 3 })
  // One visitor, who travels, and comes from two places by two links.
  add(1, 5, { workspaceId: 6, visitor: '77', country: 'DE', referrer: 'a.example', linkId: 1 })
  add(1, 5, { workspaceId: 6, visitor: '77', country: 'FR', referrer: 'google.com', linkId: 2 })
  add(1, END - 1, { workspaceId: 9 })
  return hits
}

export const HAND_MADE_WORLD: HitWorld = {
  seed: 0,
  firstDay: MAY_1,
  days: END,
  zones: [],
  hits: createHits(),
}

const RANGE = { start: MAY_1 * DAY_MS, end: (MAY_1 + END) * DAY_MS }
const MAY = { ...RANGE, end: (MAY_1 + JUNE) * DAY_MS }
const MONTHS = { ...RANGE, end: (MAY_1 + JULY) * DAY_MS }

const toTop = (
  workspaceId: number,
  by: 'utmCampaign' | 'utmTerm' | 'source' | 'referrer',
  range = MONTHS,
) => {
  const nullAs = by === 'source' || by === 'referrer' ? '(direct)' : 'Unknown'
  return createHitQuery({ ...range, workspaceId, groupBy: { by, limit: 1, nullAs } })
}
const toTotal = (column: HitFilter['column'], values: HitFilter['values']) =>
  createHitQuery({ ...MONTHS, workspaceId: 6, filters: [{ column, values, negate: false } as HitFilter] })

export const HAND_MADE_QUESTIONS: HitQuery[] = [
  toTop(1, 'utmCampaign'),
  // In May alone, the only head exceeds what no other value does.
  {
    ...toTop(1, 'utmCampaign', MAY),
    filters: [{ column: 'utmCampaign', values: ['b', 'c'], negate: false }],
  },
  toTop(7, 'utmCampaign'),
  toTop(2, 'source'),
  toTop(3, 'referrer'),
  toTop(4, 'utmTerm', RANGE),
  toTop(5, 'utmTerm', RANGE),
  toTotal('country', ['DE', 'FR']),
  toTotal('linkId', [1, 2]),
  toTotal('referrer', ['a.example', 'google.com']),
  toTotal('source', ['a.example', 'Google']),
]
