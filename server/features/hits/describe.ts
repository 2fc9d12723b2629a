// Makes a hit of a raw hit: who asked, from where, by which campaign. The last to see an address.

// Makes a hit of a raw hit: who asked, from where, by which campaign. The last to see an address.

import type { Geo, Place } from '../../storage/geo.ts'
import { HIT_CLASSES, type HitClass, OUTCOMES, TRIGGERS } from '../../storage/hits/hit.ts'
import type { Agent } from './agent.ts'
import { campaignOf, utmParts } from './campaign.ts'
import { clean, jsonPart, NAME_MAX } from './part.ts'
import type { RawHit } from './raw-hit.ts'
import { referrerOf, withoutQuery } from './referrer.ts'
import { remember } from './remember.ts'
import { type SaltOf, visitorOf } from './visitor.ts'
import { append, appendNumber, appendNumber64, bytesOf, type Lines, makeRoom } from './write-line.ts'

export interface Describing {
  geo: Geo
  /** See `readAgent`. */
  readAgent: (userAgent: string) => Agent
  saltOf: SaltOf
  /** Hosts of this instance's short links (with a port where it is not the usual one), lower case. */
  ownHosts(): ReadonlySet<string>
}

export interface Describer {
  /**
   * Appends the `Hit` as a line of JSON, without what is null.
   * @param id see `hitId`
   */
  describe(id: number, raw: RawHit, lines: Lines): HitClass
  /** Forgets what visitors sent, but for user agents. To be called with every batch. */
  forget(): void
}

// Enough for the hits of one batch; user agents are few and dear (14 µs), and kept longer.
const AGENTS = 10_000
const REFERRERS = 8192
const CAMPAIGNS = 8192
const SLUG_MAX = 190

export function createDescriber({ geo, readAgent, saltOf, ownHosts }: Describing): Describer {
  const agents = remember(AGENTS, (userAgent) => agentPart(readAgent(userAgent)))
  const referrers = remember(REFERRERS, (url) => jsonPart(referrerOf(url, ownHosts())))
  const campaigns = remember(CAMPAIGNS, (parts) => jsonPart(campaignOf(parts)))
  // Addresses are many, places few: see `Geo.lookup`.
  const places = new WeakMap<Place, Uint8Array>()

  function placeOf(address: string): Uint8Array {
    const place = geo.lookup(address)
    const known = places.get(place)
    if (known) return known
    const part = placePart(place)
    places.set(place, part)
    return part
  }

  return {
    describe(id, raw, lines) {
      const agent = agents.of(raw.userAgent)
      const hitClass = classOf(raw, agent.bot)
      makeRoom(lines)
      // Numbers and members of closed lists need no escaping; all else comes from `jsonPart`.
      append(lines, ID)
      appendNumber(lines, id)
      append(lines, AT)
      appendNumber(lines, raw.at)
      append(lines, WORKSPACE)
      appendNumber(lines, raw.workspaceId)
      append(lines, LINK)
      appendNumber(lines, raw.linkId)
      append(lines, KINDS[raw.outcome][hitClass][raw.trigger])
      const { high, low } = visitorOf(raw, saltOf(raw.at))
      appendNumber64(lines, high, low)
      append(lines, QUOTE)
      append(lines, placeOf(raw.address))
      append(lines, agent.part)
      if (raw.referrer !== '') append(lines, referrers.of(withoutQuery(raw.referrer)))
      const utm = utmParts(raw.query, raw.destinationQuery)
      if (utm !== '') append(lines, campaigns.of(utm))
      if (raw.linkId === 0) append(lines, jsonPart({ unknownSlug: clean(raw.slug, SLUG_MAX) }))
      append(lines, END)
      return hitClass
    },
    forget() {
      referrers.forget()
      campaigns.forget()
    },
  }
}

const ID = bytesOf('{"id":')
const AT = bytesOf(',"at":')
const WORKSPACE = bytesOf(',"workspaceId":')
const LINK = bytesOf(',"linkId":')
const QUOTE = bytesOf('"')
const END = bytesOf('}\n')

/** By outcome, class and trigger; it ends where the visitor's digits begin. */
const KINDS = table(OUTCOMES, (outcome) =>
  table(HIT_CLASSES, (hitClass) =>
    table(TRIGGERS, (trigger) =>
      bytesOf(`,"outcome":"${outcome}","class":"${hitClass}","trigger":"${trigger}","visitor":"`),
    ),
  ),
)

function table<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>
}

function classOf(raw: RawHit, bot: boolean): HitClass {
  if (raw.head) return 'head'
  if (raw.prefetch) return 'prefetch'
  return bot ? 'bot' : 'human'
}

function agentPart({ bot, device, browser, os }: Agent) {
  return { bot, part: jsonPart({ device, browser: clean(browser, NAME_MAX), os: clean(os, NAME_MAX) }) }
}

function placePart({ country, region, city, continent }: Place): Uint8Array {
  const name = (text: string | null) => clean(text, NAME_MAX)
  return jsonPart({
    country: name(country),
    region: name(region),
    city: name(city),
    continent: name(continent),
  })
}
