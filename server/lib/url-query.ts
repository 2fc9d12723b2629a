// Changes only parameters of a URL's query. Parsing and printing the whole URL would change its encoding.

/** Matches any value of a parameter in a condition. */
export const ANY_VALUE = '*'

/** Appends parameters before the fragment. */
export function appendQuery(href: string, parameters: Iterable<[string, string]>): string {
  return appendQueryText(href, new URLSearchParams([...parameters]).toString())
}

/** Appends a query as it is written, before the fragment. */
function appendQueryText(href: string, added: string): string {
  if (added === '') return href
  const hash = href.indexOf('#')
  const base = hash < 0 ? href : href.slice(0, hash)
  const query = base.indexOf('?')
  const open = query === base.length - 1 || base.endsWith('&')
  const joint = query < 0 ? '?' : open ? '' : '&'
  return `${base}${joint}${added}${hash < 0 ? '' : href.slice(hash)}`
}

/**
 * Appends the parameters of `query` that `isForwarded` accepts and that `href` does not have. The bytes of both stay
 * unchanged, because many pages distinguish `?a` from `?a=`, and `%20` from `+`. `isForwarded` gets a parameter
 * decoded.
 */
export function mergeQuery(
  href: string,
  query: string,
  isForwarded: (name: string, value: string) => boolean,
): string {
  const own = new URLSearchParams(`&${/^[^?#]*\?([^#]*)/.exec(href)?.[1] ?? ''}`)
  const forwarded = query.split('&').filter((part) => {
    const [parameter] = new URLSearchParams(`&${part}`)
    return parameter === undefined || (!own.has(parameter[0]) && isForwarded(...parameter))
  })
  return appendQueryText(href, forwarded.join('&'))
}

/** Replaces each named parameter in its place, or appends it. Null removes the parameter; undefined leaves it. */
export function setParameters(href: string, parameters: Record<string, string | null | undefined>): string {
  let changed = href
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) changed = setParameter(changed, name, value)
  }
  return changed
}

function setParameter(href: string, name: string, value: string | null): string {
  const [, base = '', query = '', hash = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(href) ?? []
  const parts = query.split('&')
  const first = parts.findIndex((part) => readName(part) === name)
  if (first < 0) return value === null ? href : appendQuery(href, [[name, value]])
  const rest = parts.flatMap((part, i) => {
    if (readName(part) !== name) return [part]
    return i === first && value !== null ? [new URLSearchParams([[name, value]]).toString()] : []
  })
  return `${base}${rest.length > 0 ? '?' : ''}${rest.join('&')}${hash}`
}

// The "&" keeps URLSearchParams from taking a leading "?" for the start of the query.
const readName = (part: string): string | undefined => new URLSearchParams(`&${part}`).keys().next().value
