// A link while it is being written: texts as they stand in the fields, and what is sent of them.

import type {
  CreateLinkInput,
  LinkResource,
  UpdateLinkInput,
} from '../../../../server/features/links/schema.ts'
import { type LinkTag, NEW_TAG_ID } from '../tag-picker/use-tag-options.ts'
import { NO_UTM, readUtm, type UtmName, type UtmValues, withScheme, withUtm } from './destination-url.ts'

export interface CountryTarget {
  /** Stays while the code changes. */
  key: number
  code: string
  url: string
}

export interface LinkDraft {
  destinationUrl: string
  utm: UtmValues
  slug: string
  title: string
  tags: LinkTag[]
  comments: string
  externalId: string
  ios: string
  android: string
  desktop: string
  countries: CountryTarget[]
  /** As `<input type=datetime-local>` has it, in the viewer's zone. */
  startsAt: string
  expiresAt: string
  expiredUrl: string
  clickLimit: string
  leadLimit: string
  /** null leaves it as it is, '' takes it away. */
  password: string | null
  forwardQuery: boolean
  trackConversions: boolean
  redirectStatus: number
}

const EMPTY: LinkDraft = {
  destinationUrl: '',
  utm: NO_UTM,
  slug: '',
  title: '',
  tags: [],
  comments: '',
  externalId: '',
  ios: '',
  android: '',
  desktop: '',
  countries: [],
  startsAt: '',
  expiresAt: '',
  expiredUrl: '',
  clickLimit: '',
  leadLimit: '',
  password: null,
  forwardQuery: false,
  trackConversions: false,
  redirectStatus: 302,
}

let lastKey = 0
export const createCountryTarget = (code = '', url = ''): CountryTarget => ({ key: ++lastKey, code, url })

export function toDraft(link: LinkResource | undefined): LinkDraft {
  if (!link) return EMPTY
  const { deviceTargeting, geoTargeting } = link
  return {
    destinationUrl: link.destinationUrl,
    utm: readUtm(link.destinationUrl),
    slug: link.slug,
    title: link.title ?? '',
    tags: link.tags,
    comments: link.comments ?? '',
    externalId: link.externalId ?? '',
    ios: deviceTargeting.ios ?? '',
    android: deviceTargeting.android ?? '',
    desktop: deviceTargeting.desktop ?? '',
    countries: Object.entries(geoTargeting).map(([code, url]) => createCountryTarget(code, url)),
    startsAt: toLocal(link.startsAt),
    expiresAt: toLocal(link.expiresAt),
    expiredUrl: link.expiredUrl ?? '',
    clickLimit: link.clickLimit === null ? '' : String(link.clickLimit),
    leadLimit: link.leadLimit === null ? '' : String(link.leadLimit),
    password: null,
    forwardQuery: link.forwardQuery,
    trackConversions: link.trackConversions,
    redirectStatus: link.redirectStatus,
  }
}

/** Another link like that one: what may be there only once, and what nobody can read, is left out. */
export const toDuplicateDraft = (link: LinkResource): LinkDraft => ({
  ...toDraft(link),
  slug: '',
  externalId: '',
})

export function setDestination(draft: LinkDraft, text: string): Partial<LinkDraft> {
  const before = readUtm(draft.destinationUrl)
  const found = readUtm(text)
  const utm = { ...draft.utm }
  for (const name of Object.keys(utm) as UtmName[]) {
    // What was only typed below waits for a destination; what stood in it and is gone was taken out.
    if (found[name] || before[name]) utm[name] = found[name]
  }
  return { destinationUrl: text, utm }
}

export function setUtm(draft: LinkDraft, name: UtmName, value: string): Partial<LinkDraft> {
  const utm = { ...draft.utm, [name]: value }
  const { destinationUrl } = draft
  return { utm, destinationUrl: destinationUrl.trim() === '' ? destinationUrl : withUtm(destinationUrl, utm) }
}

export const toDestinationUrl = ({ destinationUrl, utm }: LinkDraft) =>
  destinationUrl.trim() === '' ? '' : withUtm(withScheme(destinationUrl), utm)

const orNull = (text: string) => (text.trim() === '' ? null : text.trim())
const urlOrNull = (text: string) => orNull(withScheme(text))
const numberOrNull = (text: string) => (text.trim() === '' ? null : Number(text))

/** Everything, as a new link has it. */
function toFullInput(draft: LinkDraft): Omit<CreateLinkInput, 'redirectStatus'> & { redirectStatus: number } {
  const { ios, android, desktop, tags } = draft
  const targets = { ios: urlOrNull(ios), android: urlOrNull(android), desktop: urlOrNull(desktop) }
  const chosen = draft.countries.filter(({ code }) => code !== '')
  return {
    destinationUrl: toDestinationUrl(draft),
    slug: draft.slug.trim() || undefined,
    title: orNull(draft.title),
    comments: orNull(draft.comments),
    externalId: orNull(draft.externalId),
    ...(tags.some(({ id }) => id === NEW_TAG_ID)
      ? { tagNames: tags.map(({ name }) => name) }
      : { tagIds: tags.map(({ id }) => id) }),
    deviceTargeting: Object.fromEntries(Object.entries(targets).filter(([, url]) => url !== null)),
    geoTargeting: Object.fromEntries(chosen.map(({ code, url }) => [code, withScheme(url)])),
    startsAt: toIso(draft.startsAt),
    expiresAt: toIso(draft.expiresAt),
    expiredUrl: urlOrNull(draft.expiredUrl),
    clickLimit: numberOrNull(draft.clickLimit),
    leadLimit: numberOrNull(draft.leadLimit),
    password: draft.password === '' ? null : (draft.password ?? undefined),
    forwardQuery: draft.forwardQuery,
    trackConversions: draft.trackConversions,
    redirectStatus: draft.redirectStatus,
  }
}

/** What can be said without the server, in its names of fields. */
export function validateDraft({ destinationUrl, countries }: LinkDraft): Record<string, string> {
  const mistakes: Record<string, string> = {}
  if (destinationUrl.trim() === '') mistakes.destinationUrl = 'Say where the link leads.'
  for (const { key, code, url } of countries) {
    if (code === '' && url.trim() !== '')
      mistakes[`geoTargeting.${key}`] = 'Choose a country for this destination.'
    if (code !== '' && url.trim() === '')
      mistakes[`geoTargeting.${code}`] = 'Say where visitors from there go.'
  }
  return mistakes
}

/** Of a new link what is not as it would be anyway, of an old one what has changed. */
export function toRequestBody(before: LinkDraft, after: LinkDraft): UpdateLinkInput {
  const was = toFullInput(before) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(toFullInput(after)).filter(
      ([name, value]) => JSON.stringify(was[name]) !== JSON.stringify(value),
    ),
  )
}

/** Half a country is not sent, but was typed. */
export const isChanged = (before: LinkDraft, after: LinkDraft) =>
  Object.keys(toRequestBody(before, after)).length > 0 ||
  Object.keys(validateDraft(after)).length > Object.keys(validateDraft(before)).length

const two = (n: number) => String(n).padStart(2, '0')

function toLocal(iso: string | null): string {
  if (iso === null) return ''
  const at = new Date(iso)
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
}

const toIso = (local: string) => (local === '' ? null : new Date(local).toISOString())
