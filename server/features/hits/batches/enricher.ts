// Turns a raw hit into a hit: the class of the client, the visitor, place, device, referrer and campaign. No code after
// this one sees an address.

import { cleanText } from '../../../lib/clean-text.ts'
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
   * Appends the `Hit` as a line of JSON, without what is null.
   * @param id see `toHitId`
   */
  enrich(id: number, raw: RawHit, lines: LineBuffer): HitClass
  /** Drops the cached texts of visitors, except user agents. Call it with every batch. */
  clearCaches(): void
}

const TEXT_MAX = 190

export function createEnricher({ getSalt, ...needs }: EnricherNeeds): Enricher {
  const parts = createHitParts(needs)
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
      if (raw.variant !== '') appendBytes(lines, toVariantPart(raw))
      appendBytes(lines, LINE_END)
      return hitClass
    },
    clearCaches: parts.clearCaches,
  }
}

function toVariantPart({ linkId, variant }: RawHit): Uint8Array {
  const text = cleanText(variant, TEXT_MAX)
  return toJsonPart(linkId === 0 ? { unknownSlug: text } : { variant: text })
}

const QUOTE = toUtf8('"')
