// URLs that we send browsers to. Always judged on the parsed URL, never on the string: parsers drop tabs and
// newlines, fold slashes and read user names, so what a string looks like says little.

export const URL_MAX = 8192

export interface UrlRule {
  /** Schemes besides http and https, with their colon. */
  schemes: string[]
  /** Hosts (with port) that are ours: a link to a link can loop. */
  ownHosts: string[]
}

/** @returns the URL as we store it, or what is wrong with it. */
export function checkUrl(text: string, rule: UrlRule): { href: string } | { wrong: string } {
  if (text.length > URL_MAX) return { wrong: `must be at most ${URL_MAX} characters` }
  const url = URL.parse(text)
  const web = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !(web || rule.schemes.includes(url.protocol))) {
    const others = rule.schemes.length > 0 ? ` (or ${rule.schemes.join(', ')})` : ''
    return { wrong: `must be an http or https URL${others}` }
  }
  if (url.username !== '' || url.password !== '') return { wrong: 'must not contain a user name or password' }
  if (web && rule.ownHosts.includes(url.host)) return { wrong: 'must not point to this short domain' }
  if (url.href.length > URL_MAX) return { wrong: `must be at most ${URL_MAX} characters` }
  return { href: url.href }
}

/** Sets each named parameter of the query, or takes it out where the value is null; leaves the others as they are. */
export function withParameters(href: string, parameters: Record<string, string | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return href
  const url = new URL(href)
  for (const [name, value] of given) {
    if (value === null || value === undefined || value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}
