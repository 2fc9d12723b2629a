// A page view as the snippet tells it: the page's address and where its visitor came from, as texts of a stranger's.

import { cleanText } from '../../lib/clean-text.ts'
import { createGenerationCache } from '../../lib/generation-cache.ts'
import { CLICK_ID_PARAMETER } from '../hits/click-id.ts'
import { type Campaign, extractUtmParameters, parseCampaign } from '../visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../visitors/referrer.ts'
import type { Touch } from './touch.ts'
import type { PageView } from './visit.ts'

export interface ParsedPageView extends PageView {
  /** What a hit says of the campaign: utm parameters alone, since the rest of a query may hold secrets. */
  utm: string
  /** Without its query; '' where the visitor came from the same site, or directly. */
  referrer: string
}

export interface PageViewInput {
  at: number
  /** `location.href` */
  url: string
  /** `document.referrer` */
  referrer: string
}

/** The link of a click, if its id is good here. */
export type LinkLookup = (clickId: string) => number | undefined

/** @returns undefined where the page's address is none */
export type PageViewReader = (told: PageViewInput, linkOf: LinkLookup) => ParsedPageView | undefined

const URL_MAX = 2048
/** Most visitors see the same few pages. At 3 KB, the most that the snippet tells, a thousand take 3 MB. */
const CACHED_MAX = 1000

interface PageInfo {
  /** Without `www.`; '' where the address is none. */
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
  /** Host without `www.`; null for a page of ours, and for what is no place to come from. */
  host: string | null
}

/** @param ownHosts of this instance, lower case */
export function createPageViewReader(ownHosts: ReadonlySet<string>): PageViewReader {
  const pages = createGenerationCache(CACHED_MAX, parsePage)
  const referrers = createGenerationCache(CACHED_MAX, (text) => parseReferringPage(text, ownHosts))
  return ({ at, url, referrer }, linkOf) => {
    const page = pages.get(url)
    if (page.site === '') return undefined
    const told = referrer === '' ? NO_REFERRER : referrers.get(referrer)
    // The page before on the same site brought nobody.
    const from = told.site === page.site ? NO_REFERRER : told
    return {
      at,
      pageUrl: page.url,
      utm: page.utm,
      referrer: from.url,
      touch: toTouch(at, page, from, linkOf),
    }
  }
}

const NO_REFERRER: ReferrerInfo = { site: '', url: '', host: null }
const NO_CAMPAIGN = parseCampaign('')
const NO_PAGE: PageInfo = { site: '', url: null, utm: '', campaign: NO_CAMPAIGN, clickId: undefined }

function parsePage(text: string): PageInfo {
  const page = URL.parse(text)
  if (!page || !/^https?:$/.test(page.protocol)) return NO_PAGE
  const query = page.search.slice(1)
  const utm = readCampaignParts(query)
  return {
    site: stripWww(page.hostname),
    url: cleanText(`${page.protocol}//${page.host}${page.pathname}`, URL_MAX),
    utm,
    campaign: utm === '' ? NO_CAMPAIGN : parseCampaign(utm),
    clickId: query.includes(CLICK_ID_PARAMETER) ? CLICK.exec(query)?.[1] : undefined,
  }
}

// Ours need no encoding, so that what is encoded is not ours.
const CLICK = new RegExp(`(?:^|&)${CLICK_ID_PARAMETER}=([\\w.-]+)(?:&|$)`)

function parseReferringPage(text: string, ownHosts: ReadonlySet<string>): ReferrerInfo {
  const url = stripQuery(text)
  const site = stripWww(URL.parse(url)?.hostname ?? '')
  return { site, url, host: parseReferrer(url, ownHosts).referrer }
}

const stripWww = (host: string) => host.replace(/^www\./, '')

function toTouch(
  at: number,
  { url, campaign, clickId }: PageInfo,
  { host }: ReferrerInfo,
  linkOf: LinkLookup,
): Touch {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent } = campaign
  const linkId = clickId === undefined ? undefined : linkOf(clickId)
  const clicked = clickId !== undefined && linkId !== undefined
  const named = utmSource ?? utmMedium ?? utmCampaign ?? utmTerm ?? utmContent
  return {
    at,
    kind: clicked ? 'click' : named !== null ? 'campaign' : host !== null ? 'referrer' : 'direct',
    linkId: clicked ? linkId : null,
    clickId: clicked ? clickId : null,
    referrer: host,
    landingUrl: url,
    utmSource,
    utmMedium,
    utmCampaign,
    utmTerm,
    utmContent,
  }
}

/** Advertisers' own marks on an address, and what utm parameters would have said in their place. */
const AD_CLICKS: [RegExp, string][] = [
  [/(?:^|&)(?:gclid|gbraid|wbraid|dclid)=[^&]/, 'utm_source=google&utm_medium=cpc'],
  [/(?:^|&)msclkid=[^&]/, 'utm_source=bing&utm_medium=cpc'],
  [/(?:^|&)ttclid=[^&]/, 'utm_source=tiktok&utm_medium=cpc'],
  [/(?:^|&)twclid=[^&]/, 'utm_source=x&utm_medium=cpc'],
  [/(?:^|&)li_fat_id=[^&]/, 'utm_source=linkedin&utm_medium=cpc'],
  // Facebook puts it on every link, not on ads alone.
  [/(?:^|&)fbclid=[^&]/, 'utm_source=facebook'],
]

/** The id itself is not kept: it names a person to whoever gave it out. */
function readCampaignParts(query: string): string {
  if (query === '') return ''
  const utm = extractUtmParameters(query, '')
  if (utm.includes('utm_source=') || !/(?:clid|braid|li_fat_id)=/.test(query)) return utm
  const network = AD_CLICKS.find(([mark]) => mark.test(query))?.[1]
  if (network === undefined) return utm
  return utm === '' ? network : `${utm}&${network}`
}
