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
  if (web && rule.ownHosts.some((own) => toServerName(own) === toServerName(url.host)))
    return { wrong: 'must not point to this short domain' }
  if (url.href.length > URL_MAX) return { wrong: `must be at most ${URL_MAX} characters` }
  return { href: url.href }
}

/** "go.example." and "go.example:443" under http reach the same server as "go.example". */
const toServerName = (host: string) => host.toLowerCase().replace(/\.*(:(?:80|443))?$|\.+(?=:\d+$)/, '')
