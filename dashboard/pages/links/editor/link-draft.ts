// A link while it is edited: the texts in the fields, and the request body that they become.

import type {
  CreateLinkInput,
  LinkResource,
  UpdateLinkInput,
} from '../../../../server/features/links/schema.ts'
import { toIso, toLocal } from '../../../ui/forms/local-time.ts'
import { type LinkTag, NEW_TAG_ID } from '../tag-picker/use-tag-options.ts'
import {
  NO_UTM,
  readUtm,
  UTM_PARAMETERS,
  type UtmField,
  type UtmName,
  type UtmValues,
  withScheme,
  withUtm,
} from './destination-url.ts'
import { createRuleDraft, type RuleDraft, toRule } from './rule-draft.ts'
import { createVariantDraft, toVariant, type VariantDraft } from './split-draft.ts'

export interface CountryTarget {
  /** Identifies the row while its country changes. */
  key: number
  code: string
  url: string
}

export interface LinkDraft {
  destinationUrl: string
  utm: UtmValues
  /** '' is where the workspace makes new links. */
  domain: string
  slug: string
  title: string
  tags: LinkTag[]
  comments: string
  externalId: string
  ios: string
  android: string
  desktop: string
  countries: CountryTarget[]
  rules: RuleDraft[]
  /** Empty without a split test. */
  split: VariantDraft[]
  splitEndsAt: string
  extraPath: LinkResource['extraPath']
  publicStats: boolean
  /** The format of `<input type=datetime-local>`, in the viewer's time zone. */
  startsAt: string
  expiresAt: string
  expiredUrl: string
  clickLimit: string
  leadLimit: string
  /** null keeps the current password, '' removes it. */
  password: string | null
  forwardQuery: boolean
  trackConversions: boolean
  redirectStatus: number
  previewTitle: string
  previewDescription: string
  previewImage: string
}

/** The API's values for fields that a request leaves out. */
export const LINK_DEFAULTS: LinkDraft = {
  destinationUrl: '',
  utm: NO_UTM,
  domain: '',
  slug: '',
  title: '',
  tags: [],
  comments: '',
  externalId: '',
  ios: '',
  android: '',
  desktop: '',
  countries: [],
  rules: [],
  split: [],
  splitEndsAt: '',
  extraPath: 'ignore',
  publicStats: false,
  startsAt: '',
  expiresAt: '',
  expiredUrl: '',
  clickLimit: '',
  leadLimit: '',
  password: null,
  forwardQuery: false,
  trackConversions: false,
  redirectStatus: 302,
  previewTitle: '',
  previewDescription: '',
  previewImage: '',
}

/** Initial values of a new link. */
export type NewLink = Partial<Pick<LinkDraft, 'destinationUrl' | 'slug' | 'domain'>>

/** Conversion tracking is on, because only with it a later form is linked to the click for certain. */
export const toNewDraft = ({ destinationUrl = '', slug = '', domain = '' }: NewLink): LinkDraft => ({
  ...LINK_DEFAULTS,
  destinationUrl,
  slug,
  domain,
  utm: readUtm(destinationUrl),
  trackConversions: true,
})

let lastKey = 0
export const createCountryTarget = (code = '', url = ''): CountryTarget => ({ key: ++lastKey, code, url })

export function toDraft(link: LinkResource): LinkDraft {
  const { deviceTargeting, geoTargeting } = link
  return {
    destinationUrl: link.destinationUrl,
    utm: readUtm(link.destinationUrl),
    domain: link.domain,
    slug: link.slug,
    title: link.title ?? '',
    tags: link.tags,
    comments: link.comments ?? '',
    externalId: link.externalId ?? '',
    ios: deviceTargeting.ios ?? '',
    android: deviceTargeting.android ?? '',
    desktop: deviceTargeting.desktop ?? '',
    countries: Object.entries(geoTargeting).map(([code, url]) => createCountryTarget(code, url)),
    rules: link.rules.map(createRuleDraft),
    split: link.split?.map(createVariantDraft) ?? [],
    splitEndsAt: toLocal(link.splitEndsAt),
    extraPath: link.extraPath,
    publicStats: link.publicStats,
    startsAt: toLocal(link.startsAt),
    expiresAt: toLocal(link.expiresAt),
    expiredUrl: link.expiredUrl ?? '',
    clickLimit: link.clickLimit === null ? '' : String(link.clickLimit),
    leadLimit: link.leadLimit === null ? '' : String(link.leadLimit),
    password: null,
    forwardQuery: link.forwardQuery,
    trackConversions: link.trackConversions,
    redirectStatus: link.redirectStatus,
    previewTitle: link.previewTitle ?? '',
    previewDescription: link.previewDescription ?? '',
    previewImage: link.previewImage ?? '',
  }
}

/**
 * A draft with the link's settings, without its slug and external ID, which must be unique, and without its password.
 */
export const toDuplicateDraft = (link: LinkResource): LinkDraft => ({
  ...toDraft(link),
  slug: '',
  externalId: '',
})

/** Sets the destination, and takes over the UTM values that the text has. */
export function setDestination(draft: LinkDraft, text: string): Partial<LinkDraft> {
  const before = readUtm(draft.destinationUrl)
  const after = readUtm(text)
  const utm = { ...draft.utm }
  for (const name of Object.keys(utm) as UtmName[]) {
    // A value that was typed into its own field waits for a destination. A value that left the destination was
    // removed.
    if (after[name] || before[name]) utm[name] = after[name]
  }
  return { destinationUrl: text, utm }
}

export function setUtm(draft: LinkDraft, name: UtmName, value: string): Partial<LinkDraft> {
  return setAllUtm(draft, { ...draft.utm, [name]: value })
}

export const setAllUtm = (draft: LinkDraft, utm: UtmValues): Partial<LinkDraft> => {
  const { destinationUrl } = draft
  return { utm, destinationUrl: destinationUrl.trim() === '' ? destinationUrl : withUtm(destinationUrl, utm) }
}

/**
 * Fills in the values of a template.
 * @param replace also replaces other values of the link
 * @returns the parameters that have another value
 */
export function fillUtm(
  utm: UtmValues,
  template: { [Field in UtmField]: string | null },
  { replace = false } = {},
) {
  const conflicts = UTM_PARAMETERS.filter(
    ({ name, field }) => utm[name] !== '' && template[field] !== null && utm[name] !== template[field],
  )
  const filled = { ...utm }
  for (const { name, field } of UTM_PARAMETERS)
    if (filled[name] === '' || replace) filled[name] = template[field] ?? filled[name]
  return { filled, conflicts }
}

export const toDestinationUrl = ({ destinationUrl, utm }: LinkDraft) =>
  destinationUrl.trim() === '' ? '' : withUtm(withScheme(destinationUrl), utm)

const orNull = (text: string) => (text.trim() === '' ? null : text.trim())
const urlOrNull = (text: string) => orNull(withScheme(text))
const numberOrNull = (text: string) => (text.trim() === '' ? null : Number(text))

/** Every field, in the shape of a new link. */
function toFullInput(draft: LinkDraft): Omit<CreateLinkInput, 'redirectStatus'> & { redirectStatus: number } {
  const { ios, android, desktop, tags } = draft
  const targets = { ios: urlOrNull(ios), android: urlOrNull(android), desktop: urlOrNull(desktop) }
  const countries = draft.countries.filter(({ code }) => code !== '')
  return {
    destinationUrl: toDestinationUrl(draft),
    domain: draft.domain || undefined,
    slug: draft.slug.trim() || undefined,
    title: orNull(draft.title),
    comments: orNull(draft.comments),
    externalId: orNull(draft.externalId),
    ...(tags.some(({ id }) => id === NEW_TAG_ID)
      ? { tagNames: tags.map(({ name }) => name) }
      : { tagIds: tags.map(({ id }) => id) }),
    deviceTargeting: Object.fromEntries(Object.entries(targets).filter(([, url]) => url !== null)),
    geoTargeting: Object.fromEntries(countries.map(({ code, url }) => [code, withScheme(url)])),
    rules: draft.rules.map(toRule),
    split: draft.split.length === 0 ? null : draft.split.map(toVariant),
    splitEndsAt: toIso(draft.splitEndsAt),
    extraPath: draft.extraPath,
    publicStats: draft.publicStats,
    startsAt: toIso(draft.startsAt),
    expiresAt: toIso(draft.expiresAt),
    expiredUrl: urlOrNull(draft.expiredUrl),
    clickLimit: numberOrNull(draft.clickLimit),
    leadLimit: numberOrNull(draft.leadLimit),
    password: draft.password === '' ? null : (draft.password ?? undefined),
    forwardQuery: draft.forwardQuery,
    trackConversions: draft.trackConversions,
    redirectStatus: draft.redirectStatus,
    previewTitle: orNull(draft.previewTitle),
    previewDescription: orNull(draft.previewDescription),
    previewImage: urlOrNull(draft.previewImage),
  }
}

/** Checks that need no server. @returns messages by field */
export function validateDraft({
  destinationUrl,
  countries,
  rules,
  split,
}: LinkDraft): Record<string, string> {
  const errors: Record<string, string> = {}
  if (destinationUrl.trim() === '') errors.destinationUrl = 'Enter a destination URL.'
  for (const { key, code, url } of countries) {
    if (code === '' && url.trim() !== '')
      errors[`geoTargeting.${key}`] = 'Choose a country for this destination.'
    if (code !== '' && url.trim() === '')
      errors[`geoTargeting.${code}`] = 'Enter a destination for this country.'
  }
  for (const [index, { to }] of rules.entries())
    if (to.trim() === '') errors[`rules.${index}.to`] = 'Enter a destination for this rule.'
  for (const [index, { url }] of split.entries())
    if (url.trim() === '') errors[`split.${index}.url`] = 'Enter a destination for this variant.'
  return errors
}

/** The request body: values that differ from the defaults (new link) or from the stored link (edit). */
export function toRequestBody(before: LinkDraft, after: LinkDraft): UpdateLinkInput {
  const previous = toFullInput(before) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(toFullInput(after)).filter(
      ([name, value]) => JSON.stringify(previous[name]) !== JSON.stringify(value),
    ),
  )
}

/** Also true for a country without a destination, which is typed but not sent. */
export const isChanged = (before: LinkDraft, after: LinkDraft) =>
  Object.keys(toRequestBody(before, after)).length > 0 ||
  Object.keys(validateDraft(after)).length > Object.keys(validateDraft(before)).length
