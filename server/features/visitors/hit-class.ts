// Judges the class of a hit. The redirect asks before it counts a click, and the enricher before it stores a hit: both get
// the same answer here.

import type { HitClass } from '../../storage/hits/hit.ts'

export interface HitFacts {
  head: boolean
  prefetch: boolean
  /** By the user agent. */
  bot: boolean
  /** See `TrafficMarks`. */
  internal: boolean
  /** By the referrer: of the public list, or of the workspace's own. */
  spam: boolean
}

export function judgeHitClass({ head, prefetch, bot, internal, spam }: HitFacts): HitClass {
  if (head) return 'head'
  if (prefetch) return 'prefetch'
  if (bot) return 'bot'
  if (internal) return 'internal'
  return spam ? 'spam' : 'human'
}
