// Makes a hit of a raw hit: who asked, from where, by which campaign. Pure, and the last to see an address.

import type { Geo } from '../../storage/geo.ts'
import type { Hit, HitClass } from '../../storage/hits/hit.ts'
import type { Agent } from './agent.ts'
import type { RawHit } from './raw-hit.ts'
import { type SaltOf, visitorOf } from './visitor.ts'

export interface Describing {
  geo: Geo
  /** See `createAgents`. */
  agentOf: (userAgent: string) => Agent
  saltOf: SaltOf
  /** Hosts of this instance's short links, lower case: coming from one of them is coming directly. */
  ownHosts: ReadonlySet<string>
}

const NAME = 128
const UTM = 255
const REFERRER_HOST = 253
const REFERRER_URL = 1024
const SLUG = 190

/** @param id see `hitId` */
export function describeHit(id: number, raw: RawHit, { geo, agentOf, saltOf, ownHosts }: Describing): Hit {
  const agent = agentOf(raw.userAgent)
  const place = geo.lookup(raw.address)
  const utm = campaignOf(raw.query, raw.destinationQuery)
  const { referrer, referrerUrl } = referrerOf(raw.referrer, ownHosts)
  return {
    id,
    at: raw.at,
    workspaceId: raw.workspaceId,
    linkId: raw.linkId,
    outcome: raw.outcome,
    class: classOf(raw, agent),
    trigger: raw.trigger,
    visitor: visitorOf(raw, saltOf(raw.at)),
    country: clean(place.country, NAME),
    region: clean(place.region, NAME),
    city: clean(place.city, NAME),
    continent: clean(place.continent, NAME),
    device: agent.device,
    browser: clean(agent.browser, NAME),
    os: clean(agent.os, NAME),
    referrer,
    referrerUrl,
    utmSource: clean(utm('utm_source'), UTM),
    utmMedium: clean(utm('utm_medium'), UTM),
    utmCampaign: clean(utm('utm_campaign'), UTM),
    utmTerm: clean(utm('utm_term'), UTM),
    utmContent: clean(utm('utm_content'), UTM),
    unknownSlug: raw.linkId === 0 ? clean(raw.slug, SLUG) : null,
  }
}

function classOf(raw: RawHit, agent: Agent): HitClass {
  if (raw.head) return 'head'
  if (raw.prefetch) return 'prefetch'
  return agent.bot ? 'bot' : 'human'
}

const NO_PARAMETERS = new URLSearchParams()
const parameters = (query: string) => (query.includes('utm_') ? new URLSearchParams(query) : NO_PARAMETERS)

/** What the short URL says wins; what it does not say, the destination may. */
function campaignOf(query: string, destinationQuery: string): (name: string) => string | null {
  const own = parameters(query)
  const destination = parameters(destinationQuery)
  return (name) => own.get(name) ?? destination.get(name)
}

const DIRECT = { referrer: null, referrerUrl: null }

function referrerOf(header: string, ownHosts: ReadonlySet<string>) {
  const url = header === '' ? null : URL.parse(header)
  // Apps send `android-app://com.google.android.gm/`; anything else is not a place one comes from.
  if (!url || !/^(https?|android-app|ios-app):$/.test(url.protocol) || url.hostname === '') return DIRECT
  const host = url.hostname.toLowerCase()
  const referrer = host.startsWith('www.') ? host.slice(4) : host
  if (ownHosts.has(host) || ownHosts.has(referrer)) return DIRECT
  return {
    referrer: clean(referrer, REFERRER_HOST),
    referrerUrl: clean(`${url.protocol}//${url.host.toLowerCase()}${url.pathname}`, REFERRER_URL),
  }
}

/** Cut to a bound, without what no engine stores (NUL, lone surrogates); nothing is null. */
function clean(text: string | null, bound: number): string | null {
  if (text === null || text === '') return null
  let kept = text.length > bound ? text.slice(0, bound) : text
  if (kept.includes('\0')) kept = kept.replaceAll('\0', '')
  if (!kept.isWellFormed()) kept = kept.replace(/\p{Surrogate}/gu, '')
  return kept === '' ? null : kept
}
