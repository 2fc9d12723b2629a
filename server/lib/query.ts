// Adding to a URL's query without touching what is there: parsing and printing it again would change its encoding.

/** Appends parameters before the fragment. */
export function appendQuery(href: string, parameters: Iterable<[string, string]>): string {
  const added = new URLSearchParams([...parameters]).toString()
  if (added === '') return href
  const hash = href.indexOf('#')
  const base = hash < 0 ? href : href.slice(0, hash)
  const joint = base.includes('?') ? (base.endsWith('?') || base.endsWith('&') ? '' : '&') : '?'
  return `${base}${joint}${added}${hash < 0 ? '' : href.slice(hash)}`
}
