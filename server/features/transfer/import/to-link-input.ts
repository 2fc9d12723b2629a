// Turns a link of another tool into the body of POST /links, so that the rules of links apply. Texts above our limits are cut, and
// the row gets a note.

import { fieldErrors } from '../../../http/validation.ts'
import { readCountryCode } from '../../../lib/country-code.ts'
import { foldCase } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { CARD_DESCRIPTION_MAX, CARD_TITLE_MAX, CreateLink, type CreateLinkInput } from '../../links/schema.ts'
import type { SourceLink } from '../sources/source.ts'

const TITLE_MAX = 500
const COMMENTS_MAX = 5000
const TAG_MAX = 50
const TAGS_MAX = 100

/** A problem of a row, in the words of the API. */
export interface RowProblem {
  field: string | null
  value: string | null
  message: string
}

export type LinkInputReading =
  | { input: CreateLinkInput; notes: string[] }
  | { problem: RowProblem; notes?: undefined }

/** @param domain as in POST /links; undefined for the domain of new links */
export function toLinkInput(
  link: SourceLink,
  slug: string | null,
  domain: string | undefined,
): LinkInputReading {
  const notes = [...link.left]
  const body = toBody(link, notes)
  const { data, error } = CreateLink.safeParse({
    ...body,
    ...(slug === null ? {} : { slug }),
    ...(domain === undefined ? {} : { domain }),
  })
  if (data) return { input: data, notes }
  const [field, message] = Object.entries(fieldErrors(error.issues, 'field'))[0] ?? ['link', 'is not valid']
  return { problem: toRowProblem(field, message, { ...body, slug }) }
}

const VALUE_MAX = 200

/** @param field can be nested, such as `geoTargeting.DE` */
export function toRowProblem(field: string, message: string, body: object): RowProblem {
  let value: unknown = body
  for (const name of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  const text = typeof value === 'string' ? value : value == null ? null : JSON.stringify(value)
  return { field, value: text?.slice(0, VALUE_MAX) ?? null, message }
}

function toBody(link: SourceLink, notes: string[]) {
  const cut = (name: string, text: string | null, max: number) => {
    if (text === null || [...text].length <= max) return text || null
    notes.push(`${name} cut to ${max} characters`)
    return [...text].slice(0, max).join('')
  }
  return {
    destinationUrl: link.destinationUrl,
    ...link.own,
    title: cut('title', link.title, TITLE_MAX),
    comments: cut('comments', link.comments, COMMENTS_MAX),
    tagNames: toTagNames(link.tags, notes),
    archived: link.archived,
    startsAt: toIsoTime(link.startsAt),
    expiresAt: toIsoTime(link.expiresAt),
    expiredUrl: link.expiredUrl || null,
    clickLimit: link.clickLimit,
    password: link.password || null,
    forwardQuery: link.forwardQuery,
    geoTargeting: toCountries(link.geoTargeting, notes),
    deviceTargeting: link.deviceTargeting,
    rules: link.rules,
    redirectStatus: link.redirectStatus,
    previewTitle: cut('previewTitle', link.previewTitle, CARD_TITLE_MAX),
    previewDescription: cut('previewDescription', link.previewDescription, CARD_DESCRIPTION_MAX),
    previewImage: toImage(link.previewImage, notes),
  }
}

const toIsoTime = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/** Merges names that differ only in case, which are one tag here. */
function toTagNames(names: string[], notes: string[]): string[] {
  const byKey = new Map<string, string>()
  for (const name of names) {
    const short = [...name.trim()].slice(0, TAG_MAX).join('').trim()
    if (short.length < name.trim().length) notes.push(`tag "${short}" cut to ${TAG_MAX} characters`)
    if (short !== '' && !byKey.has(foldCase(short))) byKey.set(foldCase(short), short)
  }
  if (byKey.size > TAGS_MAX) notes.push(`only the first ${TAGS_MAX} tags`)
  return [...byKey.values()].slice(0, TAGS_MAX)
}

/** Drops targets with country codes that no visitor has, which other tools accept. */
function toCountries(targets: SourceLink['geoTargeting'], notes: string[]) {
  const entries = Object.entries(targets)
  const unknown = entries.filter(([code]) => /^[a-z]{2}$/i.test(code) && readCountryCode(code) === null)
  for (const [code] of unknown) notes.push(`without its target for "${code}", which is no country`)
  return Object.fromEntries(entries.filter((entry) => !unknown.includes(entry)))
}

/** Drops an invalid image of a card, so that the link is not lost. */
function toImage(url: string | null, notes: string[]): string | null {
  if (!url) return null
  if (parseUrl(url)?.protocol === 'https:') return url
  notes.push('without its preview image, which is not an https URL')
  return null
}
