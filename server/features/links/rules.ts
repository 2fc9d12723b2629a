// From what a caller sends to the columns of a link: every rule that needs more than the shape of one field.

import { domainToUnicode } from 'node:url'
import { invalid } from '../../lib/failure.ts'
import { foldCase, isCleanText } from '../../lib/text.ts'
import { setParameters } from '../../lib/url-query.ts'
import { checkUrl } from '../../lib/web-url.ts'
import { linkConflict } from './conflict.ts'
import type { LinkRow, Site } from './link.ts'
import type { UpdateLinkInput } from './schema.ts'
import { toSlugKey } from './slug.ts'

const UTM = {
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
} as const

/** Where nothing else is asked for. */
export const DEFAULT_REDIRECT_STATUS = 302

/** The columns a caller may set, without slug, domain and password. */
type Settable = Pick<
  LinkRow,
  | 'destination_url'
  | 'title'
  | 'comments'
  | 'external_id'
  | 'archived'
  | 'starts_at'
  | 'expires_at'
  | 'expired_url'
  | 'click_limit'
  | 'lead_limit'
  | 'forward_query'
  | 'track_conversions'
  | 'geo_targeting'
  | 'device_targeting'
  | 'redirect_status'
>

/**
 * The columns that `input` changes; absent fields are absent.
 * @param current the link's destination today, for UTM values without a new destination
 * @throws Failure `invalid`, naming every wrong URL
 */
export function toLinkColumns(
  site: Site,
  input: UpdateLinkInput,
  current: string | undefined,
): Partial<Settable> {
  const errors: Record<string, string> = {}
  const url = (field: string, value: string): string => {
    const checked = checkUrl(value, site)
    if ('href' in checked) return checked.href
    errors[field] = checked.wrong
    return value
  }
  const targets = (
    field: string,
    value: Record<string, string | null | undefined> | null,
    stored = (key: string) => key,
  ): string => {
    const entries = Object.entries(value ?? {})
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([key, target]) => [stored(key), url(`${field}.${key}`, target)] as const)
    return JSON.stringify(Object.fromEntries(entries))
  }

  const { title, comments, externalId, archived, startsAt, expiresAt, expiredUrl } = input
  const { geoTargeting: byCountry, deviceTargeting: byDevice } = input
  const columns: Partial<Settable> = {
    destination_url: toDestination(input, current, (value) => url('destinationUrl', value)),
    title,
    comments,
    external_id: externalId,
    archived: toBit(archived),
    starts_at: toMilliseconds(startsAt),
    expires_at: toMilliseconds(expiresAt),
    expired_url: typeof expiredUrl === 'string' ? url('expiredUrl', expiredUrl) : expiredUrl,
    click_limit: input.clickLimit,
    lead_limit: input.leadLimit,
    forward_query: toBit(input.forwardQuery),
    track_conversions: toBit(input.trackConversions),
    geo_targeting:
      byCountry === undefined ? undefined : targets('geoTargeting', byCountry, (code) => code.toUpperCase()),
    device_targeting: byDevice === undefined ? undefined : targets('deviceTargeting', byDevice),
    redirect_status: input.redirectStatus === null ? DEFAULT_REDIRECT_STATUS : input.redirectStatus,
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

/** @returns undefined where the destination does not change */
function toDestination(
  { destinationUrl, ...input }: UpdateLinkInput,
  current: string | undefined,
  checked: (url: string) => string,
): string | undefined {
  const href = destinationUrl === undefined ? current : checked(destinationUrl)
  if (href === undefined) return undefined
  const parameters = Object.fromEntries(
    Object.entries(UTM).map(([field, name]) => [name, input[field as keyof typeof UTM]]),
  )
  const tagged = setParameters(href, parameters)
  // Checked once more: UTM values make it longer.
  return tagged === href ? destinationUrl && href : checked(tagged)
}

const toBit = (value: boolean | null | undefined) => (value === undefined ? undefined : Number(value))
const toMilliseconds = (value: string | null | undefined) =>
  typeof value === 'string' ? Date.parse(value) : value

/** @returns the stored name of the domain. @throws Failure `invalid` for a domain that is not the workspace's. */
export function resolveDomain(site: Site, domain: string | null | undefined): string {
  if (domain === undefined || domain === null || domain.toLowerCase() === site.domain.toLowerCase()) return ''
  throw invalid({ domain: `is not a domain of this workspace; use ${site.domain}` })
}

/** @throws Failure `conflict` */
export function checkReserved({ reserved }: Site, domain: string, slug: string): void {
  if (domain === '' && reserved.has(toSlugKey(slug))) throw linkConflict('Slug is reserved')
}

/** @throws Failure `invalid` when a link would end before it starts. */
export function checkPeriod(startsAt: number | null, expiresAt: number | null): void {
  if (startsAt !== null && expiresAt !== null && expiresAt <= startsAt) {
    throw invalid({ expiresAt: 'must be after startsAt' })
  }
}

/** One line for each, so that a search finds nothing across two of them. */
export const toSearchText = (link: Pick<LinkRow, 'slug' | 'destination_url' | 'title'>) =>
  foldCase(
    [link.slug, link.destination_url, toReadableUrl(link.destination_url), link.title ?? ''].join('\n'),
  )

/** The URL without its encodings, as people type it into a search; nothing where that is the same. */
function toReadableUrl(href: string): string {
  const { hostname } = new URL(href)
  try {
    const decoded = decodeURI(href.replace(hostname, domainToUnicode(hostname)))
    return decoded === href || !isCleanText(decoded) ? '' : decoded
  } catch (error) {
    // "%" that encodes nothing is allowed in a URL.
    if (error instanceof URIError) return ''
    throw error
  }
}
