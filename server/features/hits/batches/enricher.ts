// Makes a hit of a raw hit: who asked, from where, by which campaign. The last to see an address.

// Makes a hit of a raw hit: who asked, from where, by which campaign. The last to see an address.

import { cleanText, DIMENSION_NAME_MAX } from '../../../lib/clean-text.ts'
import { createGenerationCache } from '../../../lib/generation-cache.ts'
import type { GeoLookup, Place } from '../../../storage/geo.ts'
import { HIT_CLASSES, HIT_OUTCOMES, HIT_TRIGGERS, type HitClass } from '../../../storage/hits/hit.ts'
import { extractUtmParameters, parseCampaign } from '../../visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../../visitors/referrer.ts'
import type { ParsedUserAgent } from '../../visitors/user-agent.ts'
import { type SaltLookup, toVisitorId } from '../../visitors/visitor-id.ts'
import type { RawHit } from '../spool/raw-hit.ts'
import {
  appendBytes,
  appendNumber,
  appendNumber64,
  ensureLineRoom,
  type LineBuffer,
  toJsonPart,
  toUtf8,
} from './ndjson-line.ts'

export interface EnricherNeeds {
  geo: GeoLookup
  /** See `parseUserAgent`. */
  parseUserAgent: (userAgent: string) => ParsedUserAgent
  getSalt: SaltLookup
  /** Hosts of this instance's short links (with a port where it is not the usual one), lower case. */
  ownHosts(): ReadonlySet<string>
}

export interface Enricher {
  /**
   * Appends the `Hit` as a line of JSON, without what is null.
   * @param id see `toHitId`
   */
  enrich(id: number, raw: RawHit, lines: LineBuffer): HitClass
  /** Forgets what visitors sent, but for user agents. To be called with every batch. */
  clearCaches(): void
}

// Enough for the hits of one batch; user agents are few and dear (14 µs), and kept longer.
const AGENTS = 10_000
const REFERRERS = 8192
const CAMPAIGNS = 8192
const SLUG_MAX = 190

export function createEnricher({ geo, parseUserAgent, getSalt, ownHosts }: EnricherNeeds): Enricher {
  const agents = createGenerationCache(AGENTS, (userAgent) => toUserAgentPart(parseUserAgent(userAgent)))
  const referrers = createGenerationCache(REFERRERS, (url) => toJsonPart(parseReferrer(url, ownHosts())))
  const campaigns = createGenerationCache(CAMPAIGNS, (parts) => toJsonPart(parseCampaign(parts)))
  // Addresses are many, places few: see `Geo.lookup`.
  const places = new WeakMap<Place, Uint8Array>()

  function placeOf(address: string): Uint8Array {
    const place = geo.findPlace(address)
    const known = places.get(place)
    if (known) return known
    const part = toPlacePart(place)
    places.set(place, part)
    return part
  }

  return {
    enrich(id, raw, lines) {
      const agent = agents.get(raw.userAgent)
      const hitClass = classify(raw, agent.bot)
      ensureLineRoom(lines)
      // Numbers and members of closed lists need no escaping; all else comes from `toJsonPart`.
      appendBytes(lines, ID)
      appendNumber(lines, id)
      appendBytes(lines, AT)
      appendNumber(lines, raw.at)
      appendBytes(lines, WORKSPACE)
      appendNumber(lines, raw.workspaceId)
      appendBytes(lines, LINK)
      appendNumber(lines, raw.linkId)
      appendBytes(lines, OUTCOME_PARTS[raw.outcome][hitClass][raw.trigger])
      const { high, low } = toVisitorId(raw, getSalt(raw.at))
      appendNumber64(lines, high, low)
      appendBytes(lines, QUOTE)
      appendBytes(lines, placeOf(raw.address))
      appendBytes(lines, agent.part)
      if (raw.referrer !== '') appendBytes(lines, referrers.get(stripQuery(raw.referrer)))
      const utm = extractUtmParameters(raw.query, raw.destinationQuery)
      if (utm !== '') appendBytes(lines, campaigns.get(utm))
      if (raw.linkId === 0) appendBytes(lines, toJsonPart({ unknownSlug: cleanText(raw.slug, SLUG_MAX) }))
      appendBytes(lines, END)
      return hitClass
    },
    clearCaches() {
      referrers.clear()
      campaigns.clear()
    },
  }
}

const ID = toUtf8('{"id":')
const AT = toUtf8(',"at":')
const WORKSPACE = toUtf8(',"workspaceId":')
const LINK = toUtf8(',"linkId":')
const QUOTE = toUtf8('"')
const END = toUtf8('}\n')

/** By outcome, class and trigger; it ends where the visitor's digits begin. */
const OUTCOME_PARTS = mapKeys(HIT_OUTCOMES, (outcome) =>
  mapKeys(HIT_CLASSES, (hitClass) =>
    mapKeys(HIT_TRIGGERS, (trigger) =>
      toUtf8(`,"outcome":"${outcome}","class":"${hitClass}","trigger":"${trigger}","visitor":"`),
    ),
  ),
)

function mapKeys<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>
}

function classify(raw: RawHit, bot: boolean): HitClass {
  if (raw.head) return 'head'
  if (raw.prefetch) return 'prefetch'
  return bot ? 'bot' : 'human'
}

function toUserAgentPart({ bot, device, browser, os }: ParsedUserAgent) {
  return {
    bot,
    part: toJsonPart({
      device,
      browser: cleanText(browser, DIMENSION_NAME_MAX),
      os: cleanText(os, DIMENSION_NAME_MAX),
    }),
  }
}

function toPlacePart({ country, region, city, continent }: Place): Uint8Array {
  const name = (text: string | null) => cleanText(text, DIMENSION_NAME_MAX)
  return toJsonPart({
    country: name(country),
    region: name(region),
    city: name(city),
    continent: name(continent),
  })
}
