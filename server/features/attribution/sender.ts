// Who sent a form and from where, as far as a request without the snippet tells: device, place, page and campaign.

import { describeError, log } from '../../lib/log.ts'
import type { Geo, Place } from '../../storage/geo.ts'
import { type Agent, readAgent } from '../hits/agent.ts'
import { campaignOf, utmParts } from '../hits/campaign.ts'
import { clean, NAME_MAX } from '../hits/part.ts'
import { referrerOf, withoutQuery } from '../hits/referrer.ts'
import { remember } from '../hits/remember.ts'
import { asSpooled } from '../hits/spool-format.ts'
import { type SaltOf, visitorOf } from '../hits/visitor.ts'

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

export type DescribeSender = (asked: {
  at: number
  workspaceId: number
  address: string
  userAgent: string
  /** The Referer header, or ''. */
  referer: string
}) => Sender

export interface SenderNeeds {
  /** Opened with the first submission. */
  geo: () => Geo
  /** The same salts that hits are described under, or no click would be found. */
  saltOf: SaltOf
  /** Hosts of this instance (with a port where it is not the usual one), lower case. */
  ownHosts(): ReadonlySet<string>
}

/** A user agent takes 14 µs to read, and the same few come again and again. */
const AGENTS = 10_000
const PAGE_URL_MAX = 2048
const NOWHERE: Place = { country: null, region: null, city: null, continent: null }

/** Made for the request thread: it never throws and never waits. */
export function openSenders({ geo, saltOf, ownHosts }: SenderNeeds): DescribeSender {
  const agents = remember<Agent>(AGENTS, readAgent)
  let noGeo = false

  /** A lead is worth more than the country it came from. */
  function placeOf(address: string): Place {
    if (noGeo) return NOWHERE
    try {
      return geo().lookup(address)
    } catch (error) {
      noGeo = true
      log.error('geo_unavailable', describeError(error))
      return NOWHERE
    }
  }

  return ({ at, workspaceId, address, userAgent, referer }) => {
    const spooled = asSpooled('userAgent', userAgent)
    const visitor = visitorOf(
      { workspaceId, address: asSpooled('address', address), userAgent: spooled },
      saltOf(at),
    )
    const { device, browser, os } = agents.of(spooled)
    const place = placeOf(address)
    const name = (text: string | null) => clean(text, NAME_MAX)
    return {
      visitor: ((BigInt(visitor.high) << 32n) | BigInt(visitor.low)).toString(),
      device,
      browser: name(browser),
      os: name(os),
      country: name(place.country),
      region: name(place.region),
      city: name(place.city),
      referrer: referrerOf(withoutQuery(referer), ownHosts()).referrer,
      ...pageOf(referer),
    }
  }
}

/** What the page's own URL says. */
function pageOf(referer: string) {
  const url = referer === '' ? null : URL.parse(referer)
  if (!url || !/^https?:$/.test(url.protocol)) return { pageUrl: null, ...campaignOf('') }
  return {
    pageUrl: clean(`${url.protocol}//${url.host}${url.pathname}`, PAGE_URL_MAX),
    ...campaignOf(utmParts(url.search.slice(1), '')),
  }
}
