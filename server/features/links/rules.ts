// Turns the fields of a request into the columns of a link, and checks the rules that a schema cannot express.

import { readCountryCode } from '../../lib/country-code.ts'
import { Failure, invalid } from '../../lib/failure.ts'
import { setParameters } from '../../lib/url-query.ts'
import { checkUrl, parseUrl } from '../../lib/web-url.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { linkConflict } from './conflict.ts'
import type { LinkRow, Site } from './link.ts'
import { toStoredRules } from './redirect-rules/schema.ts'
import type { UpdateLinkInput } from './schema.ts'
import { isReserved } from './slug.ts'

/** The parameter of a URL for each field. */
export const UTM = {
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
} as const

export const DEFAULT_REDIRECT_STATUS = 302
export const DEFAULT_EXTRA_PATH = 'ignore'

/** The columns that a caller may set, except slug, domain and password. */
type SettableColumns = Pick<
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
  | 'rules'
  | 'extra_path'
  | 'public_stats'
  | 'split'
  | 'split_ends_at'
  | 'redirect_status'
  | 'preview_title'
  | 'preview_description'
  | 'preview_image'
>

/**
 * The columns that `input` changes. An absent field gives no column.
 * @param current the stored destination, for UTM values without a new destination
 * @throws Failure `invalid`, naming every wrong URL
 */
export function toLinkColumns(
  site: Site,
  input: UpdateLinkInput,
  current: string | undefined,
): Partial<SettableColumns> {
  const errors: Record<string, string> = {}
  const checkField = (field: string, value: string, check = checkUrl): string => {
    const checked = check(value, site)
    if ('href' in checked) return checked.href
    errors[field] = checked.wrong
    return value
  }
  const toTargets = (
    field: string,
    value: Record<string, string | null | undefined> | null,
    toStoredKey = (key: string) => key,
  ): string => {
    const entries = Object.entries(value ?? {})
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([key, target]) => [toStoredKey(key), checkField(`${field}.${key}`, target)] as const)
    return JSON.stringify(Object.fromEntries(entries))
  }

  const { title, comments, externalId, archived, startsAt, expiresAt, expiredUrl } = input
  const { geoTargeting: byCountry, deviceTargeting: byDevice, previewImage: image } = input
  const columns: Partial<SettableColumns> = {
    destination_url: toDestination(input, current, (value) => checkField('destinationUrl', value)),
    title,
    comments,
    external_id: externalId,
    archived: toBit(archived),
    starts_at: toMilliseconds(startsAt),
    expires_at: toMilliseconds(expiresAt),
    expired_url: typeof expiredUrl === 'string' ? checkField('expiredUrl', expiredUrl) : expiredUrl,
    click_limit: input.clickLimit,
    lead_limit: input.leadLimit,
    forward_query: toBit(input.forwardQuery),
    track_conversions: toBit(input.trackConversions),
    geo_targeting:
      byCountry === undefined
        ? undefined
        : toTargets('geoTargeting', byCountry, (code) => readCountryCode(code) ?? code.toUpperCase()),
    device_targeting: byDevice === undefined ? undefined : toTargets('deviceTargeting', byDevice),
    rules:
      input.rules === undefined
        ? undefined
        : JSON.stringify(
            toStoredRules(input.rules ?? [], (index, url) => checkField(`rules.${index}.to`, url)),
          ),
    split:
      input.split === undefined || input.split === null
        ? input.split
        : JSON.stringify(
            input.split.map(({ url, weight, label }, index) => ({
              url: checkField(`split.${index}.url`, url),
              weight,
              label,
            })),
          ),
    split_ends_at: toMilliseconds(input.splitEndsAt),
    extra_path: input.extraPath === null ? DEFAULT_EXTRA_PATH : input.extraPath,
    public_stats: toBit(input.publicStats),
    redirect_status: input.redirectStatus === null ? DEFAULT_REDIRECT_STATUS : input.redirectStatus,
    preview_title: input.previewTitle,
    preview_description: input.previewDescription,
    preview_image: typeof image === 'string' ? checkField('previewImage', image, checkImageUrl) : image,
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

/** Services show no image of an http URL, and no app answers one. */
const checkImageUrl: typeof checkUrl = (text, site) =>
  parseUrl(text)?.protocol === 'https:' ? checkUrl(text, site) : { wrong: 'must be an https URL' }

/** @returns undefined when the destination does not change */
function toDestination(
  { destinationUrl, ...input }: UpdateLinkInput,
  current: string | undefined,
  check: (url: string) => string,
): string | undefined {
  const href = destinationUrl === undefined ? current : check(destinationUrl)
  if (href === undefined) return undefined
  const parameters = Object.fromEntries(
    Object.entries(UTM).map(([field, name]) => [name, input[field as keyof typeof UTM]]),
  )
  const tagged = setParameters(href, parameters)
  // Check again, because UTM values make the URL longer.
  return tagged === href ? destinationUrl && href : check(tagged)
}

const toBit = (value: boolean | null | undefined) => (value === undefined ? undefined : Number(value))
const toMilliseconds = (value: string | null | undefined) =>
  typeof value === 'string' ? Date.parse(value) : value

/** @throws Failure `conflict` */
export function checkReserved(site: Site, domain: string, slug: string): void {
  if (isReserved(site, domain, slug)) throw linkConflict('Slug is reserved')
}

/**
 * A suspended link keeps its slug. Otherwise its owner could make a new link with the slug that strangers were sent.
 * @throws Failure `forbidden`
 */
export function refuseSuspendedLink({ suspended_at }: Pick<LinkRow, 'suspended_at'>): void {
  if (suspended_at === null) return
  throw new Failure(
    'forbidden',
    'The operator of this server has suspended this link: it keeps its slug and cannot be deleted',
  )
}

/**
 * Refuses a new end that is over already: people mistype a year, and the link would stop at once. A key may set one,
 * because programs carry links over that have ended.
 * @throws Failure `invalid`
 */
export function refusePastEnd(actor: Pick<Actor, 'kind'>, expiresAt: number | null, now: number): void {
  if (actor.kind === 'user' && expiresAt !== null && expiresAt <= now)
    throw invalid({ expiresAt: 'must be in the future. To stop the link now, archive it' })
}

/**
 * The columns that follow from a change of the split: a new one begins now, and its end must come.
 * @throws Failure `invalid`
 */
export function toSplitColumns(
  before: Pick<LinkRow, 'split' | 'split_ends_at' | 'split_started_at' | 'split_result'>,
  after: Pick<LinkRow, 'split' | 'split_ends_at'>,
  now: number,
): Pick<LinkRow, 'split_ends_at' | 'split_started_at' | 'split_result'> {
  const { split, split_ends_at: endsAt } = after
  if (split === null) {
    if (endsAt !== null && endsAt !== before.split_ends_at) throw invalid({ splitEndsAt: 'needs a split' })
    return { split_ends_at: null, split_started_at: null, split_result: before.split_result }
  }
  if (endsAt !== null && endsAt !== before.split_ends_at && endsAt <= now)
    throw invalid({ splitEndsAt: 'must be in the future' })
  const isSame = split === before.split
  return {
    split_ends_at: endsAt,
    split_started_at: isSame ? before.split_started_at : now,
    split_result: isSame ? before.split_result : null,
  }
}

/** @throws Failure `invalid` when the link would expire before it starts */
export function checkPeriod(startsAt: number | null, expiresAt: number | null): void {
  if (startsAt !== null && expiresAt !== null && expiresAt <= startsAt) {
    throw invalid({ expiresAt: 'must be after startsAt' })
  }
}
