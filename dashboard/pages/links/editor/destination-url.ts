// A destination as text while it is typed: its UTM values, and what a visitor's browser will ask for in the end. The
// rest of the text is left as it is, since printing a parsed URL would change its encoding.

export const UTM_PARAMETERS = [
  { name: 'utm_source', label: 'Source', example: 'newsletter' },
  { name: 'utm_medium', label: 'Medium', example: 'email' },
  { name: 'utm_campaign', label: 'Campaign', example: 'spring-sale' },
  { name: 'utm_term', label: 'Term', example: 'running shoes' },
  { name: 'utm_content', label: 'Content', example: 'header-button' },
] as const

export type UtmName = (typeof UTM_PARAMETERS)[number]['name']
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

/** What people type is rarely a whole URL: `example.com/x`, `localhost:3000`. */
export function withScheme(text: string): string {
  const url = text.trim()
  return url === '' || HAS_SCHEME.test(url) ? url : `https://${url.replace(/^\/+/, '')}`
}

export function readUtm(text: string): UtmValues {
  const query = new URLSearchParams(`&${PARTS.exec(text)?.[2] ?? ''}`)
  return Object.fromEntries(UTM_PARAMETERS.map(({ name }) => [name, query.get(name) ?? ''])) as UtmValues
}

/** Sets each value where it stands or at the end of the query; an empty one is taken out. */
export const withUtm = (text: string, values: UtmValues) =>
  UTM_PARAMETERS.reduce((url, { name }) => withParameter(url, name, values[name]), text)

function withParameter(text: string, name: string, value: string): string {
  const [, base = '', query = '', hash = ''] = PARTS.exec(text) ?? []
  const written = value && new URLSearchParams([[name, value]]).toString()
  const parts = query === '' ? [] : query.split('&')
  const is = (part: string) => new URLSearchParams(`&${part}`).keys().next().value === name
  const first = parts.findIndex(is)
  const rest = parts.flatMap((part, i) => (!is(part) ? [part] : i === first && written ? [written] : []))
  if (first < 0 && written) rest.push(written)
  return `${base}${rest.length > 0 ? '?' : ''}${rest.join('&')}${hash}`
}

/** Of a short URL's query what reaches the destination: its own parameters win. */
export function withForwardedQuery(text: string, query: string): string {
  const own = new Set(new URLSearchParams(`&${PARTS.exec(text)?.[2] ?? ''}`).keys())
  return [...new URLSearchParams(query)]
    .filter(([name]) => !own.has(name))
    .reduce((url, [name, value]) => withParameter(url, name, value), text)
}

/** The parts of a URL, so that the query can be told apart by eye. */
export function splitUrl(url: string): { base: string; query: string; hash: string } {
  const [, base = '', query = '', hash = ''] = PARTS.exec(url) ?? []
  return { base, query, hash }
}

export const isUrl = (text: string) => URL.canParse(withScheme(text))
