// A destination URL while it is typed: reads and writes its UTM parameters, and previews the final URL. The rest of
// the text stays as typed, because printing a parsed URL would change its encoding.

import { t } from '../../../ui/text.ts'

/** `field`: the name in the API. */
export const UTM_PARAMETERS = [
  { name: 'utm_source', field: 'utmSource', label: 'Source', example: 'newsletter' },
  { name: 'utm_medium', field: 'utmMedium', label: 'Medium', example: 'email' },
  { name: 'utm_campaign', field: 'utmCampaign', label: 'Campaign', example: 'spring-sale' },
  { name: 'utm_term', field: 'utmTerm', label: 'Term', example: t('running shoes') },
  { name: 'utm_content', field: 'utmContent', label: 'Content', example: 'header-button' },
] as const

export type UtmName = (typeof UTM_PARAMETERS)[number]['name']
export type UtmField = (typeof UTM_PARAMETERS)[number]['field']
export type UtmValues = Record<UtmName, string>

export const NO_UTM: UtmValues = {
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
}

const PARTS = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s
const HAS_SCHEME = /^[a-z][a-z\d+-]*:(?!\d)/i

/** Adds `https://` to a text without a scheme, such as `example.com/x` or `localhost:3000`. */
export function withScheme(text: string): string {
  const url = text.trim()
  return url === '' || HAS_SCHEME.test(url) ? url : `https://${url.replace(/^\/+/, '')}`
}

export function readUtm(text: string): UtmValues {
  const query = new URLSearchParams(`&${PARTS.exec(text)?.[2] ?? ''}`)
  return Object.fromEntries(UTM_PARAMETERS.map(({ name }) => [name, query.get(name) ?? ''])) as UtmValues
}

/** Sets each parameter in its place, or at the end of the query. An empty value removes the parameter. */
export const withUtm = (text: string, values: UtmValues) =>
  UTM_PARAMETERS.reduce((url, { name }) => withParameter(url, name, values[name]), text)

function withParameter(text: string, name: string, value: string): string {
  const [, base = '', query = '', hash = ''] = PARTS.exec(text) ?? []
  const pair = value && new URLSearchParams([[name, value]]).toString()
  const parts = query === '' ? [] : query.split('&')
  const isNamed = (part: string) => new URLSearchParams(`&${part}`).keys().next().value === name
  const first = parts.findIndex(isNamed)
  const rest = parts.flatMap((part, i) => (!isNamed(part) ? [part] : i === first && pair ? [pair] : []))
  if (first < 0 && pair) rest.push(pair)
  return `${base}${rest.length > 0 ? '?' : ''}${rest.join('&')}${hash}`
}

/** Adds the short URL's query to the destination. The destination's own parameters win. */
export function withForwardedQuery(text: string, query: string): string {
  const ownNames = new Set(new URLSearchParams(`&${PARTS.exec(text)?.[2] ?? ''}`).keys())
  return [...new URLSearchParams(query)]
    .filter(([name]) => !ownNames.has(name))
    .reduce((url, [name, value]) => withParameter(url, name, value), text)
}

/** The parts of a URL, so that the preview can highlight the query. */
export function splitUrl(url: string): { base: string; query: string; hash: string } {
  const [, base = '', query = '', hash = ''] = PARTS.exec(url) ?? []
  return { base, query, hash }
}

export const isUrl = (text: string) => URL.canParse(withScheme(text))
