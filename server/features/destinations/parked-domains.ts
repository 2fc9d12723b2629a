// Recognizes from DNS, or from a redirect, that a domain is parked or for sale. Only services that do nothing else are listed:
// a registrar's own name servers also serve domains in use.

import { getDomain } from 'tldts'
import { quote } from '../../lib/text.ts'

/**
 * Name servers of parking and sale services, from the list of MISP
 * (https://github.com/MISP/misp-warninglists/blob/main/lists/parking-domain-ns/list.json, CC0), without the registrars.
 */
const PARKING_NAME_SERVERS = [
  'above.com',
  'afternic.com',
  'bodis.com',
  'brandbucket.com',
  'cashparking.com',
  'dan.com',
  'domain-for-sale.at',
  'domain-for-sale.se',
  'domain-is-4-sale-at-domainmarket.com',
  'domainhasexpired.com',
  'domainmarket.com',
  'domainparking.ru',
  'expirationwarning.net',
  'expired.uniregistry-dns.com',
  'fastpark.net',
  'namefind.com',
  'parking-page.net',
  'parkingcrew.net',
  'parkingspa.com',
  'parklogic.com',
  'parktons.com',
  'perfectdomain.com',
  'renewyourname.net',
  'rookdns.com',
  'searchreinvented.com',
  'sedoparking.com',
  'smartname.com',
  'snparking.ru',
  'sslparking.com',
  'undeveloped.com',
  'uniregistrymarket.link',
  'voodoo.com',
  'ztomy.com',
]

/** Pages of marketplaces that offer the domain which redirects to them, such as hugedomains.com/domain_profile.cfm?d=example.com. */
const SALE_PAGES: [host: string, path: string][] = [
  ['afternic.com', '/domain/'],
  ['afternic.com', '/forsale/'],
  ['dan.com', '/buy-domain/'],
  ['hugedomains.com', '/domain_profile.cfm'],
  ['perfectdomain.com', '/domain/'],
  ['sedo.com', '/search/details'],
]

const isBelow = (name: string, parent: string) => name === parent || name.endsWith(`.${parent}`)

/** @returns the registrable domain of a host, for its name servers, which reveal parking; null for an address */
export const findRegistrableDomain = (host: string) => getDomain(host)

/** @returns the service, where every name server is one of a parking service */
export function findParkingService(nameServers: string[]): string | undefined {
  const services = nameServers.map((server) =>
    PARKING_NAME_SERVERS.find((service) => isBelow(server.toLowerCase().replace(/\.$/, ''), service)),
  )
  return services.every((service) => service !== undefined) ? services[0] : undefined
}

/** @returns the marketplace, where a domain redirects to the page that sells this very domain */
export function findSalePage(from: URL, to: URL): string | undefined {
  const domain = getDomain(from.hostname)
  if (domain === null || !(to.pathname + to.search).toLowerCase().includes(domain)) return undefined
  return SALE_PAGES.find(([host, path]) => isBelow(to.hostname, host) && to.pathname.startsWith(path))?.[0]
}

/** The key by which parking services ask ad blockers to allow their ads. */
const PARKING_HEADER = 'x-adblock-key'
const TITLE = /<title[^>]{0,200}>([^<]{1,300})/i
/** A page about another offer says neither "this domain" nor its own name. */
const SALE_WORDS =
  /\b(?:is|may be|are) (?:available )?(?:for sale|parked)\b|\b(?:is )?available for purchase\b|\bparked (?:domain|free)\b|steht zum verkauf/
const OWN_WORDS = /\bthis (?:premium )?domain(?: name)?\b/

/** @returns the sign that a page's domain is parked or for sale */
export function findParkedSign(
  { headers, body }: { headers: Headers; body: Uint8Array },
  host: string,
): string | undefined {
  if (headers.has(PARKING_HEADER)) return 'It answers with X-Adblock-Key, as parked domains do.'
  const title = TITLE.exec(new TextDecoder().decode(body))?.[1]?.replace(/\s+/g, ' ').trim()
  const words = title?.toLowerCase() ?? ''
  const domain = getDomain(host)
  const isAboutItself = OWN_WORDS.test(words) || (domain !== null && words.includes(domain))
  return isAboutItself && SALE_WORDS.test(words)
    ? `The title of its page is ${quote(title ?? '')}.`
    : undefined
}
