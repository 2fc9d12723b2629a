// Turns a raw hit into a hit: the class of the client, the visitor, place, device, referrer and campaign. Later code never
// gets an address.

import { cleanText } from '../../../lib/clean-text.ts'
import { createGenerationCache } from '../../../lib/generation-cache.ts'
import type { HitClass } from '../../../storage/hits/hit.ts'
import { judgeHitClass } from '../../visitors/hit-class.ts'
import type { SaltLookup } from '../../visitors/salts.ts'
import { toVisitorId } from '../../visitors/visitor-id.ts'
import { type RawHit, splitSpooledQuery } from '../spool/raw-hit.ts'
import { appendHead, createHitParts, type HitPartNeeds, LINE_END } from './hit-parts.ts'
import { appendBytes, appendNumber64, type LineBuffer, toJsonPart, toUtf8 } from './ndjson-line.ts'

export interface EnricherNeeds extends HitPartNeeds {
  getSalt: SaltLookup
}

export interface Enricher {
  /**
   * Appends the `Hit` as a line of JSON, without null values.
   * @param id see `toHitId`
   */
  enrich(id: number, raw: RawHit, lines: LineBuffer): HitClass
  /** Drops the cached texts of visitors, except user agents. Call it with every batch. */
  clearCaches(): void
}

const TEXT_MAX = 190

export function createEnricher({ getSalt, ...needs }: EnricherNeeds): Enricher {
  const parts = createHitParts(needs)
  const variants = createGenerationCache(VARIANTS_MAX, (label) => ({
    part: toJsonPart({ variant: cleanText(label, TEXT_MAX) }),
  }))
  return {
    enrich(id, raw, lines) {
      const client = parts.client(raw.userAgent)
      const referrer = parts.referrer(raw.referrer)
      const spam = raw.ignored || referrer.spam
      const hitClass = judgeHitClass({ ...raw, bot: client.bot, spam })
      appendHead(lines, id, raw, hitClass)
      const { high, low } = toVisitorId(raw, getSalt(raw.at))
      appendNumber64(lines, high, low)
      appendBytes(lines, QUOTE)
      appendBytes(lines, parts.place(raw.address))
      appendBytes(lines, client.part)
      appendBytes(lines, referrer.part)
      const { params, utm } = splitSpooledQuery(raw.query)
      appendBytes(lines, parts.campaign(utm, raw.destinationQuery))
      if (params !== null) appendBytes(lines, toJsonPart({ params }))
      if (raw.variant !== '')
        appendBytes(lines, raw.linkId === 0 ? toSlugPart(raw.variant) : variants.get(raw.variant).part)
      appendBytes(lines, LINE_END)
      return hitClass
    },
    clearCaches: parts.clearCaches,
  }
}

/** An earlier version stored the slugs of no link here. */
const toSlugPart = (slug: string) => toJsonPart({ unknownSlug: cleanText(slug, TEXT_MAX) })

/** Labels are few, and most hits of a split repeat them. */
const VARIANTS_MAX = 1000

const QUOTE = toUtf8('"')
