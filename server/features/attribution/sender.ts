// Who sent a form and from where, as far as a request without the snippet tells: device, place, page and campaign.

import { cleanText, DIMENSION_NAME_MAX } from '../../lib/clean-text.ts'
import { createGenerationCache } from '../../lib/generation-cache.ts'
import { describeError, log } from '../../lib/log.ts'
import type { GeoLookup, Place } from '../../storage/geo.ts'
import { toSpooledText } from '../hits/spool/record-format.ts'
import { extractUtmParameters, parseCampaign } from '../visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../visitors/referrer.ts'
import type { SaltLookup } from '../visitors/salts.ts'
import { type ParsedUserAgent, parseUserAgent } from '../visitors/user-agent.ts'
import { toVisitorId } from '../visitors/visitor-id.ts'

export interface Sender {
  /** The visitor id of the day, as hits have it: a decimal number of 64 bits. */
  visitor: string
  device: string | null
  browser: string | null
  os: string | null
  country: string | null
  region: string | null
  city: string | null
  /**
   * Host the visitor came from, as far as the request tells: that of the page with the form. None for a page of this
   * instance, which is no place that brings visitors.
   */
  referrer: string | null
  /**
   * The page with the form, without its query, on whichever host: it says which form this was. Browsers leave its path
   * out when it is on another site than we are, unless the page's referrer policy is `no-referrer-when-downgrade`.
   */
  pageUrl: string | null
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
}

export type SenderDescriber = (asked: {
  at: number
  workspaceId: number
  address: string
  userAgent: string
  /** The Referer header, or ''. */
  referer: string
}) => Sender

export interface SenderNeeds {
  /** Opened with the first submission. */
  geo: () => GeoLookup
  /** The same salts that hits are described under, or no click would be found. */
  getSalt: SaltLookup
  /** Hosts of this instance (with a port where it is not the usual one), lower case. */
  ownHosts(): ReadonlySet<string>
}

/** A user agent takes 14 µs to read, and the same few come again and again. */
const AGENTS = 10_000
const PAGE_URL_MAX = 2048
const NOWHERE: Place = { country: null, region: null, city: null, continent: null }

/** Made for the request thread: it never throws and never waits. */
export function createSenderDescriber({ geo, getSalt, ownHosts }: SenderNeeds): SenderDescriber {
  const agents = createGenerationCache<ParsedUserAgent>(AGENTS, parseUserAgent)
  let noGeo = false

  /** A lead is worth more than the country it came from. */
  function placeOf(address: string): Place {
    if (noGeo) return NOWHERE
    try {
      return geo().findPlace(address)
    } catch (error) {
      noGeo = true
      log.error('geo_unavailable', describeError(error))
      return NOWHERE
    }
  }

  return ({ at, workspaceId, address, userAgent, referer }) => {
    const spooled = toSpooledText('userAgent', userAgent)
    const visitor = toVisitorId(
      { workspaceId, address: toSpooledText('address', address), userAgent: spooled },
      getSalt(at),
    )
    const { device, browser, os } = agents.get(spooled)
    const place = placeOf(address)
    const name = (text: string | null) => cleanText(text, DIMENSION_NAME_MAX)
    return {
      visitor: ((BigInt(visitor.high) << 32n) | BigInt(visitor.low)).toString(),
      device,
      browser: name(browser),
      os: name(os),
      country: name(place.country),
      region: name(place.region),
      city: name(place.city),
      referrer: parseReferrer(stripQuery(referer), ownHosts()).referrer,
      ...readPage(referer),
    }
  }
}

/** What the page's own URL says. */
function readPage(referer: string) {
  const url = referer === '' ? null : URL.parse(referer)
  if (!url || !/^https?:$/.test(url.protocol)) return { pageUrl: null, ...parseCampaign('') }
  return {
    pageUrl: cleanText(`${url.protocol}//${url.host}${url.pathname}`, PAGE_URL_MAX),
    ...parseCampaign(extractUtmParameters(url.search.slice(1), '')),
  }
}
