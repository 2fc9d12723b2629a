// Reads a page view from the addresses of the page and its referrer, which are untrusted texts of the snippet.

import { cleanText } from '../../lib/clean-text.ts'
import { createGenerationCache } from '../../lib/generation-cache.ts'
import { parseUrl } from '../../lib/web-url.ts'
import { CLICK_ID_PARAMETER } from '../hits/click-id.ts'
import { type Campaign, extractUtmParameters, hasCampaign, parseCampaign } from '../visitors/campaign.ts'
import { isOwnHost, type OwnHosts, parseReferrer, stripQuery, toSiteHost } from '../visitors/referrer.ts'
import type { Touch } from './touch.ts'
import type { PageView } from './visit.ts'

export interface ParsedPageView extends PageView {
  /** The utm parameters for the hit. The rest of the query may hold secrets and is dropped. */
  utm: string
  /** Without its query; '' where the visitor came directly or from the same site. */
  referrer: string
}

export interface PageViewInput {
  at: number
  /** `location.href` */
  url: string
  /** `document.referrer` */
  referrer: string
}

/** @returns the id of the link that was clicked; undefined where the click id is not valid here */
export type LinkLookup = (clickId: string) => number | undefined

/** @returns undefined where the page's address is no http or https URL */
export type PageViewReader = (input: PageViewInput, findLink: LinkLookup) => ParsedPageView | undefined

const URL_MAX = 2048
/** Most visitors see the same few pages. The snippet sends at most 3 KB for each, so a thousand take 3 MB. */
const CACHED_MAX = 1000

interface PageInfo {
  /** The host without `www.`; '' where the address is no http or https URL. */
  site: string
  url: string | null
  utm: string
  campaign: Campaign
  clickId: string | undefined
}

interface ReferrerInfo {
  site: string
  /** Without its query. */
  url: string
  /** The host without `www.`; null for an address that is no referrer. */
  host: string | null
  /** The host as it was sent, with its port. */
  fullHost: string
}

/** @param ownHosts may change while the reader lives */
export function createPageViewReader(ownHosts: OwnHosts): PageViewReader {
  const pages = createGenerationCache(CACHED_MAX, parsePage)
  const referrers = createGenerationCache(CACHED_MAX, parseReferringPage)
  return ({ at, url, referrer }, findLink) => {
    const page = pages.get(url)
    if (page.site === '') return undefined
    const parsed = referrer === '' ? NO_REFERRER : referrers.get(referrer)
    // A page of the same site did not bring the visitor to the site, and a short domain only passed the visitor on.
    const isExternal = parsed.site !== page.site && !isOwnHost(parsed.fullHost, ownHosts)
    const external = isExternal ? parsed : NO_REFERRER
    return {
      at,
      pageUrl: page.url,
      utm: page.utm,
      referrer: external.url,
      touch: toTouch(at, page, external, findLink),
    }
  }
}

const NO_REFERRER: ReferrerInfo = { site: '', url: '', host: null, fullHost: '' }
const NO_CAMPAIGN = parseCampaign('')
const NO_PAGE: PageInfo = { site: '', url: null, utm: '', campaign: NO_CAMPAIGN, clickId: undefined }

function parsePage(text: string): PageInfo {
  const page = parseUrl(text)
  if (!page || !/^https?:$/.test(page.protocol)) return NO_PAGE
  const query = page.search.slice(1)
  const utm = extractUtmParameters(query, '')
  return {
    site: toSiteHost(text),
    url: cleanText(`${page.protocol}//${page.host}${page.pathname}`, URL_MAX),
    utm,
    campaign: utm === '' ? NO_CAMPAIGN : parseCampaign(utm),
    clickId: query.includes(CLICK_ID_PARAMETER) ? CLICK_ID.exec(query)?.[1] : undefined,
  }
}

// A click id of this server needs no encoding, so a text with other characters is none.
const CLICK_ID = new RegExp(`(?:^|&)${CLICK_ID_PARAMETER}=([\\w.-]+)(?:&|$)`)

const NO_HOSTS: OwnHosts = new Set()

function parseReferringPage(text: string): ReferrerInfo {
  const url = stripQuery(text)
  const fullHost = parseUrl(url)?.host.toLowerCase() ?? ''
  return { site: toSiteHost(url), url, host: parseReferrer(url, NO_HOSTS).referrer, fullHost }
}

function toTouch(
  at: number,
  { url, campaign, clickId }: PageInfo,
  { host }: ReferrerInfo,
  findLink: LinkLookup,
): Touch {
  const linkId = clickId === undefined ? undefined : findLink(clickId)
  const clicked = clickId !== undefined && linkId !== undefined
  return {
    at,
    kind: clicked ? 'click' : hasCampaign(campaign) ? 'campaign' : host !== null ? 'referrer' : 'direct',
    linkId: clicked ? linkId : null,
    clickId: clicked ? clickId : null,
    referrer: host,
    landingUrl: url,
    ...campaign,
  }
}
