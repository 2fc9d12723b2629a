// The part of Content Security Policy that decides what a page may load and call, and where its forms may go. Sources
// are matched as in CSP Level 3, §6.7.2 (https://www.w3.org/TR/CSP3/#match-url-to-source-list). Browsers also match IP
// addresses, which the text does not allow; this file does the same.

/** The directives of one policy, with their sources. A page with several policies needs the permission of each. */
export type ContentPolicy = Map<string, string[]>

/** @param text the policies of one header or meta element, separated by commas */
export function readContentPolicies(text: string): ContentPolicy[] {
  return text.split(',').flatMap((policyText) => {
    const policy: ContentPolicy = new Map()
    for (const directive of policyText.split(';')) {
      const [name, ...sources] = directive.split(/[\t\n\f\r ]+/).filter(Boolean)
      // When two directives have the same name, the first counts.
      if (name !== undefined && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), sources)
    }
    return policy.size > 0 ? [policy] : []
  })
}

/** The attributes of a script element that a policy can allow it by. */
export interface ScriptAttributes {
  nonce?: string
  integrity?: string
}

// `form-action` has no fallback: a page with `default-src 'none'` alone may post anywhere.
const FALLBACKS = {
  'form-action': ['form-action'],
  'connect-src': ['connect-src', 'default-src'],
  'script-src': ['script-src-elem', 'script-src', 'default-src'],
  'frame-src': ['frame-src', 'child-src', 'default-src'],
} as const

export type CspDirective = keyof typeof FALLBACKS

/**
 * @returns the name of the directive that forbids `target`; undefined where none does.
 * @param self the page, if known
 */
export function findForbiddingDirective(
  policies: ContentPolicy[],
  directive: CspDirective,
  target: URL,
  self: URL | null,
  load: ScriptAttributes = {},
): string | undefined {
  for (const policy of policies) {
    const name = FALLBACKS[directive].find((each) => policy.has(each))
    if (name === undefined) continue
    const sources = policy.get(name) ?? []
    const allowed = directive === 'script-src' ? allowsScript : allowsAddress
    if (!allowed(sources, target, self, load)) return name
  }
  return undefined
}

/**
 * @returns the name of the directive that forbids `style` attributes; undefined where none does. `'unsafe-inline'` has no
 *   effect beside a nonce or a hash (https://www.w3.org/TR/CSP3/#allow-all-inline).
 */
export function findStyleForbiddingDirective(policies: ContentPolicy[]): string | undefined {
  for (const policy of policies) {
    const name = ['style-src-attr', 'style-src', 'default-src'].find((each) => policy.has(each))
    const sources = policy.get(name ?? '')?.map((source) => source.toLowerCase())
    if (!sources) continue
    const limited = sources.some((source) => /^'(nonce|sha(256|384|512))-/.test(source))
    if (limited || !sources.includes("'unsafe-inline'")) return name
  }
  return undefined
}

const allowsAddress = (sources: string[], target: URL, self: URL | null) =>
  sources.some((source) => matchesSource(source, target, self))

function allowsScript(
  sources: string[],
  target: URL,
  self: URL | null,
  { nonce, integrity }: ScriptAttributes,
): boolean {
  if (nonce && sources.includes(`'nonce-${nonce}'`)) return true
  const hashes = integrity?.split(/\s+/).filter(Boolean) ?? []
  if (hashes.length > 0 && hashes.every((hash) => sources.includes(`'${hash}'`))) return true
  // With 'strict-dynamic', sources that name addresses have no effect.
  if (sources.some((source) => source.toLowerCase() === "'strict-dynamic'")) return false
  return allowsAddress(sources, target, self)
}

const SOURCE =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[^\s/:*[\]]+|\[[^\]]*\])(?::(\d+|\*))?(\/[^?#]*)?$/i

/** Checks one source (`*`, `'self'`, `https:`, `*.example.com:8443/forms/`) against an address. */
export function matchesSource(source: string, target: URL, self: URL | null): boolean {
  if (source === '*') return /^https?:$/.test(target.protocol) || target.protocol === self?.protocol
  if (source.toLowerCase() === "'self'") return self !== null && isSelf(target, self)
  // Keywords, nonces and hashes name no address. Nor does `'none'` beside other sources.
  if (source.startsWith("'")) return false
  const scheme = /^([a-z][a-z0-9+.-]*):$/i.exec(source)?.[1]
  if (scheme !== undefined) return schemeMatches(scheme, target)
  const [, ownScheme, host = '', port = '', path = ''] = SOURCE.exec(source) ?? []
  if (host === '' || target.hostname === '') return false
  // A source without a scheme has the page's. Where the page is unknown, assume that the scheme matches.
  const pageScheme = self?.protocol.slice(0, -1) ?? target.protocol.slice(0, -1)
  return (
    schemeMatches(ownScheme ?? pageScheme, target) &&
    hostMatches(host.toLowerCase(), target.hostname) &&
    portMatches(port, target) &&
    pathMatches(path, target.pathname)
  )
}

/** A source that allows http allows https too. */
function schemeMatches(scheme: string, target: URL): boolean {
  const allowed = scheme.toLowerCase()
  const actual = target.protocol.slice(0, -1)
  return allowed === actual || (allowed === 'http' && actual === 'https')
}

function hostMatches(pattern: string, host: string): boolean {
  if (pattern === '*') return true
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : pattern === host
}

const DEFAULT_PORT: Record<string, string> = { 'http:': '80', 'https:': '443' }
const toEffectivePort = (url: URL) => url.port || (DEFAULT_PORT[url.protocol] ?? '')

function portMatches(pattern: string, target: URL): boolean {
  if (pattern === '*') return true
  if (pattern === '') return target.port === ''
  // A policy that was written for http stays valid when the page moves to https.
  return pattern === toEffectivePort(target) || (pattern === '80' && toEffectivePort(target) === '443')
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === '' || pattern === '/') return true
  const allowed = decodePath(pattern)
  const actual = decodePath(path)
  return allowed.endsWith('/') ? actual.startsWith(allowed) : actual === allowed
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A path that cannot be decoded is compared as it is.
    return text
  }
}

function isSelf(target: URL, self: URL): boolean {
  if (target.origin === self.origin) return true
  const ports =
    target.port === self.port || (toEffectivePort(self) === '80' && toEffectivePort(target) === '443')
  return (
    target.hostname === self.hostname && ports && target.protocol === 'https:' && self.protocol === 'http:'
  )
}
