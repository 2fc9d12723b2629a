// From what a caller sends to the columns of a link: every rule that needs more than the shape of one field.

import { Failure, invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import { checkUrl, withParameters } from '../../lib/web-url.ts'
import type { LinkRow, Site } from './link.ts'
import type { UpdateLinkInput } from './schema.ts'
import { isReserved } from './slug.ts'

const UTM = {
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
} as const

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
export function settableColumns(
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
  const targets = (field: string, value: Record<string, string | null | undefined> | null): string => {
    const entries = Object.entries(value ?? {})
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([key, target]) => [key, url(`${field}.${key}`, target)] as const)
    return JSON.stringify(Object.fromEntries(entries))
  }

  const { destinationUrl, title, comments, externalId, archived, startsAt, expiresAt, expiredUrl } = input
  const geo = input.geoTargeting && upperCaseKeys(input.geoTargeting)
  const columns: Partial<Settable> = {
    destination_url: destinationOf(
      input,
      destinationUrl === undefined ? current : url('destinationUrl', destinationUrl),
      errors,
    ),
    title,
    comments,
    external_id: externalId,
    archived: bit(archived),
    starts_at: milliseconds(startsAt),
    expires_at: milliseconds(expiresAt),
    expired_url: typeof expiredUrl === 'string' ? url('expiredUrl', expiredUrl) : expiredUrl,
    click_limit: input.clickLimit,
    lead_limit: input.leadLimit,
    forward_query: bit(input.forwardQuery),
    track_conversions: bit(input.trackConversions),
    geo_targeting: geo === undefined ? undefined : targets('geoTargeting', geo),
    device_targeting:
      input.deviceTargeting === undefined ? undefined : targets('deviceTargeting', input.deviceTargeting),
    redirect_status: input.redirectStatus,
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

function destinationOf(input: UpdateLinkInput, href: string | undefined, errors: Record<string, string>) {
  if (href === undefined || 'destinationUrl' in errors) return undefined
  const parameters = Object.fromEntries(
    Object.entries(UTM).map(([field, name]) => [name, input[field as keyof typeof UTM]]),
  )
  const changed = withParameters(href, parameters)
  return input.destinationUrl === undefined && changed === href ? undefined : changed
}

const bit = (value: boolean | undefined) => (value === undefined ? undefined : Number(value))
const milliseconds = (value: string | null | undefined) =>
  typeof value === 'string' ? Date.parse(value) : value
const upperCaseKeys = (record: Record<string, string>) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key.toUpperCase(), value]))

/** @returns the stored name of the domain. @throws Failure `invalid` for a domain that is not the workspace's. */
export function ownDomain(site: Site, domain: string | undefined): string {
  if (domain === undefined || domain.toLowerCase() === site.domain.toLowerCase()) return ''
  throw invalid({ domain: `is not a domain of this workspace; use ${site.domain}` })
}

/** @throws Failure `conflict` */
export function checkReserved(domain: string, slug: string): void {
  if (domain === '' && isReserved(slug)) throw new Failure('conflict', 'Slug is reserved')
}

/** @throws Failure `invalid` when a link would end before it starts. */
export function checkPeriod(startsAt: number | null, expiresAt: number | null): void {
  if (startsAt !== null && expiresAt !== null && expiresAt <= startsAt) {
    throw invalid({ expiresAt: 'must be after startsAt' })
  }
}

export const searchText = (link: Pick<LinkRow, 'slug' | 'destination_url' | 'title'>) =>
  foldCase(`${link.slug} ${link.destination_url} ${link.title ?? ''}`)
