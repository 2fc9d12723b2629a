// Describes the sender of a form by the request alone: visitor id, device, place, page and campaign.

import { cleanText, DIMENSION_NAME_MAX } from '../../lib/clean-text.ts'
import { createGenerationCache } from '../../lib/generation-cache.ts'
import { describeError, log } from '../../lib/log.ts'
import { parseUrl } from '../../lib/web-url.ts'
import type { GeoLookup, Place } from '../../storage/geo.ts'
import { toSpooledText } from '../hits/spool/record-format.ts'
import { extractUtmParameters, parseCampaign } from '../visitors/campaign.ts'
import type { SaltLookup } from '../visitors/salts.ts'
import { parseUserAgent } from '../visitors/user-agent.ts'
import { toVisitorId } from '../visitors/visitor-id.ts'

export interface Sender {
  /** The visitor id of the day, the same as in hits: a 64-bit number in decimal. */
  visitor: string
  device: string | null
  browser: string | null
  os: string | null
  country: string | null
  region: string | null
  city: string | null
  /**
   * The page with the form, without its query, on any host: it says which form was sent. Browsers leave the path out
   * when the page is on another site than this server, unless its referrer policy is `no-referrer-when-downgrade`. The
   * request does not tell where the visitor came from: a site is no source of its own forms.
   */
  pageUrl: string | null
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
}

export type SenderDescriber = (request: {
  at: number
  workspaceId: number
  address: string
  userAgent: string
  /** The Referer header, or ''. */
  referer: string
}) => Sender

export interface SenderNeeds {
  /** Opens the country database with the first submission. */
  geo: () => GeoLookup
  /** The salts of the hits: with other salts, a submission's visitor id would match no click. */
  getSalt: SaltLookup
}

/** Parsing a user agent takes 14 µs, and most requests have one of a few. */
const AGENTS = 10_000
/** Most submissions of a form come from one page. */
const PAGES = 1_000
const PAGE_URL_MAX = 2048
const NOWHERE: Place = { country: null, region: null, city: null, continent: null }

/** The describer runs on the request thread: it never throws and never waits. */
export function createSenderDescriber({ geo, getSalt }: SenderNeeds): SenderDescriber {
  const agents = createGenerationCache(AGENTS, readAgent)
  const pages = createGenerationCache(PAGES, readPage)
  let geoFailed = false

  /** Without the country database, the submission is stored without a place. */
  function findPlace(address: string): Place {
    if (geoFailed) return NOWHERE
    try {
      return geo().findPlace(address)
    } catch (error) {
      geoFailed = true
      log.error('geo_unavailable', describeError(error))
      return NOWHERE
    }
  }

  return ({ at, workspaceId, address, userAgent, referer }) => {
    // Cut as the spool cuts it, so that the visitor id is the one of the hits.
    const spooledAgent = toSpooledText('userAgent', userAgent)
    const visitor = toVisitorId(
      { workspaceId, address: toSpooledText('address', address), userAgent: spooledAgent },
      getSalt(at),
    )
    const place = findPlace(address)
    return {
      visitor: ((BigInt(visitor.high) << 32n) | BigInt(visitor.low)).toString(),
      ...agents.get(spooledAgent),
      country: toName(place.country),
      region: toName(place.region),
      city: toName(place.city),
      ...pages.get(referer),
    }
  }
}

const toName = (text: string | null) => cleanText(text, DIMENSION_NAME_MAX)

function readAgent(userAgent: string) {
  const { device, browser, os } = parseUserAgent(userAgent)
  return { device, browser: toName(browser), os: toName(os) }
}

/** Reads the page and its campaign from the Referer header. */
function readPage(referer: string) {
  const url = referer === '' ? null : parseUrl(referer)
  if (!url || !/^https?:$/.test(url.protocol)) return { pageUrl: null, ...parseCampaign('') }
  return {
    pageUrl: cleanText(`${url.protocol}//${url.host}${url.pathname}`, PAGE_URL_MAX),
    ...parseCampaign(extractUtmParameters(url.search.slice(1), '')),
  }
}
