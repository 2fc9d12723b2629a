// Turns a raw hit into a hit: the class of the client, the visitor, place, device, referrer and campaign. No code after
// this one sees an address.

import { cleanText, DIMENSION_NAME_MAX } from '../../../lib/clean-text.ts'
import { createGenerationCache } from '../../../lib/generation-cache.ts'
import type { GeoLookup, Place } from '../../../storage/geo.ts'
import { HIT_CLASSES, HIT_OUTCOMES, HIT_TRIGGERS, type HitClass } from '../../../storage/hits/hit.ts'
import { extractUtmParameters, parseCampaign } from '../../visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../../visitors/referrer.ts'
import type { SaltLookup } from '../../visitors/salts.ts'
import type { ParsedUserAgent } from '../../visitors/user-agent.ts'
import { toVisitorId } from '../../visitors/visitor-id.ts'
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
  /** Drops the cached texts of visitors, except user agents. Call it with every batch. */
  clearCaches(): void
}

// Cache sizes, enough for the hits of one batch. User agents are kept longer: they are few, and parsing one takes 14
// µs.
const USER_AGENTS_MAX = 10_000
const REFERRERS_MAX = 8192
const CAMPAIGNS_MAX = 8192
const SLUG_MAX = 190

export function createEnricher({ geo, parseUserAgent, getSalt, ownHosts }: EnricherNeeds): Enricher {
  const userAgents = createGenerationCache(USER_AGENTS_MAX, (userAgent) =>
    toUserAgentPart(parseUserAgent(userAgent)),
  )
  const referrers = createGenerationCache(REFERRERS_MAX, (url) => toJsonPart(parseReferrer(url, ownHosts())))
  const campaigns = createGenerationCache(CAMPAIGNS_MAX, (parts) => toJsonPart(parseCampaign(parts)))
  // There are many addresses and few places: see `GeoLookup.findPlace`.
  const places = new WeakMap<Place, Uint8Array>()

  function getPlacePart(address: string): Uint8Array {
    const place = geo.findPlace(address)
    const known = places.get(place)
    if (known) return known
    const part = toPlacePart(place)
    places.set(place, part)
    return part
  }

  return {
    enrich(id, raw, lines) {
      const userAgent = userAgents.get(raw.userAgent)
      const hitClass = classify(raw, userAgent.bot)
      ensureLineRoom(lines)
      // Numbers and members of closed lists need no escaping. `toJsonPart` escapes all else.
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
      appendBytes(lines, getPlacePart(raw.address))
      appendBytes(lines, userAgent.part)
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

/** The part of a line that says outcome, class and trigger. It ends where the visitor's digits begin. */
const OUTCOME_PARTS = mapKeys(HIT_OUTCOMES, (outcome) =>
  mapKeys(HIT_CLASSES, (hitClass) =>
    mapKeys(HIT_TRIGGERS, (trigger) =>
      toUtf8(`,"outcome":"${outcome}","class":"${hitClass}","trigger":"${trigger}","visitor":"`),
    ),
  ),
)

function mapKeys<K extends string, V>(keys: readonly K[], toValue: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<K, V>
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
  const clean = (text: string | null) => cleanText(text, DIMENSION_NAME_MAX)
  return toJsonPart({
    country: clean(country),
    region: clean(region),
    city: clean(city),
    continent: clean(continent),
  })
}
