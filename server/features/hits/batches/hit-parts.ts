// The parts of a hit's line that many hits share: client, place, referrer and campaign. Live and imported hits use the same
// parts.

import { cleanText, DIMENSION_NAME_MAX } from '../../../lib/clean-text.ts'
import { createGenerationCache } from '../../../lib/generation-cache.ts'
import type { GeoLookup, Place } from '../../../storage/geo.ts'
import {
  HIT_CLASSES,
  HIT_DIMENSIONS,
  HIT_OUTCOMES,
  HIT_TRIGGERS,
  type Hit,
  type HitClass,
  type HitDimension,
} from '../../../storage/hits/hit.ts'
import { extractUtmParameters, parseCampaign } from '../../visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../../visitors/referrer.ts'
import { isReferrerSpam } from '../../visitors/referrer-spam.ts'
import type { ParsedUserAgent } from '../../visitors/user-agent.ts'
import {
  appendBytes,
  appendNumber,
  ensureLineRoom,
  type LineBuffer,
  toJsonPart,
  toUtf8,
} from './ndjson-line.ts'

export interface HitPartNeeds {
  geo: GeoLookup
  /** See `parseUserAgent`. */
  parseUserAgent: (userAgent: string) => ParsedUserAgent
  /** Hosts of this instance's short links (with a port unless it is the default), lower case. */
  ownHosts(): ReadonlySet<string>
}

interface ReferrerPart {
  spam: boolean
  part: Uint8Array
}

interface ClientPart {
  bot: boolean
  part: Uint8Array
}

export interface HitParts {
  client(userAgent: string): ClientPart
  place(address: string): Uint8Array
  /** @param referrer as a browser sends it */
  referrer(referrer: string): ReferrerPart
  campaign(query: string, destinationQuery: string): Uint8Array
  /** Drops the cached texts of visitors, except user agents. Call it with every batch. */
  clearCaches(): void
}

// Cache sizes, enough for the hits of one batch. User agents are kept longer: they are few, and parsing one takes 14
// µs.
const USER_AGENTS_MAX = 10_000
const REFERRERS_MAX = 8192
const CAMPAIGNS_MAX = 8192
const NOTHING = new Uint8Array()
const NO_REFERRER: ReferrerPart = { spam: false, part: NOTHING }

export function createHitParts({ geo, parseUserAgent, ownHosts }: HitPartNeeds): HitParts {
  const clients = createGenerationCache(USER_AGENTS_MAX, (userAgent) =>
    toClientPart(parseUserAgent(userAgent)),
  )
  const referrers = createGenerationCache(REFERRERS_MAX, (url): ReferrerPart => {
    const referrer = parseReferrer(url, ownHosts())
    return { spam: isReferrerSpam(referrer.referrer), part: toJsonPart(referrer) }
  })
  const campaigns = createGenerationCache(CAMPAIGNS_MAX, (parts) => toJsonPart(parseCampaign(parts)))
  // There are many addresses and few places: see `GeoLookup.findPlace`.
  const places = new WeakMap<Place, Uint8Array>()
  return {
    client: clients.get,
    place(address) {
      const place = geo.findPlace(address)
      const known = places.get(place)
      if (known) return known
      const part = toPlacePart(place)
      places.set(place, part)
      return part
    },
    referrer: (referrer) => (referrer === '' ? NO_REFERRER : referrers.get(stripQuery(referrer))),
    campaign(query, destinationQuery) {
      const utm = extractUtmParameters(query, destinationQuery)
      return utm === '' ? NOTHING : campaigns.get(utm)
    },
    clearCaches() {
      referrers.clear()
      campaigns.clear()
    },
  }
}

const cleanName = (text: string | null) => cleanText(text, DIMENSION_NAME_MAX)

export const toClientPart = ({ bot, device, browser, os }: ParsedUserAgent): ClientPart => ({
  bot,
  part: toJsonPart({ device, browser: cleanName(browser), os: cleanName(os) }),
})

export const toPlacePart = ({ country, region, city, continent }: Place): Uint8Array =>
  toJsonPart({
    country: cleanName(country),
    region: cleanName(region),
    city: cleanName(city),
    continent: cleanName(continent),
  })

/**
 * Appends the beginning of every line. The digits of the visitor follow, and a quote.
 * @param id see `toHitId`
 */
export function appendHead(
  lines: LineBuffer,
  id: number,
  hit: Pick<Hit, 'at' | 'workspaceId' | 'linkId' | 'outcome' | 'trigger'>,
  hitClass: HitClass,
): void {
  ensureLineRoom(lines)
  // Numbers and members of closed lists need no escaping. `toJsonPart` escapes all else.
  appendBytes(lines, ID)
  appendNumber(lines, id)
  appendBytes(lines, AT)
  appendNumber(lines, hit.at)
  appendBytes(lines, WORKSPACE)
  appendNumber(lines, hit.workspaceId)
  appendBytes(lines, LINK)
  appendNumber(lines, hit.linkId)
  appendBytes(lines, OUTCOME_PARTS[hit.outcome][hitClass][hit.trigger])
}

export const LINE_END = toUtf8('}\n')
const ID = toUtf8('{"id":')
const AT = toUtf8(',"at":')
const WORKSPACE = toUtf8(',"workspaceId":')
const LINK = toUtf8(',"linkId":')

/** The part of a line with outcome, class and trigger. The visitor's digits follow it. */
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

/** The longest value of a dimension, a URL. */
const DESCRIBED_MAX = 512

/** The part of a line with the dimensions of an already enriched hit. */
export const toDescribedPart = (hit: Pick<Hit, Exclude<HitDimension, 'trigger'>>): Uint8Array =>
  toJsonPart(
    Object.fromEntries(
      HIT_DIMENSIONS.filter((name) => name !== 'trigger').map((name) => [
        name,
        cleanText(hit[name], DESCRIBED_MAX),
      ]),
    ),
  )
