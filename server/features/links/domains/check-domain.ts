// Checks a domain's DNS: the proof of ownership, and whether it leads visitors to this server. One more question, about
// the names above the domain, tells a domain that does not answer from DNS servers that do not.

import { parseIpAddress } from '../../../lib/parse-ip.ts'
import type { DnsClient, OpenDnsClient } from './dns-client.ts'
import type { ServerAddresses } from './server-addresses.ts'

export interface DomainCheck {
  /** Whether DNS has the TXT record; null without an answer. */
  proof: boolean | null
  /** Why `proof` is not true. */
  problem: string | null
  /** Whether a check without proof contradicts the domain: not when no server could be asked. */
  isEvidence: boolean
  /** Whether visitors reach this server; null while unknown. */
  route: boolean | null
  routeProblem: string | null
}

export interface DnsNeeds {
  openDnsClient: OpenDnsClient
  serverAddresses: ServerAddresses
}

export const toProofName = (domain: string) => `_towpath.${domain}`

/** Ends after four seconds. */
export async function checkDomain(
  { openDnsClient, serverAddresses }: DnsNeeds,
  { domain, token }: { domain: string; token: string },
): Promise<DomainCheck> {
  const dns = openDnsClient()
  try {
    const [proof, route] = await Promise.all([
      checkProof(dns, domain, token),
      checkRoute(dns, serverAddresses, domain),
    ])
    return { ...proof, ...route }
  } finally {
    dns.close()
  }
}

async function checkProof(dns: DnsClient, domain: string, token: string): Promise<ProofCheck> {
  const name = toProofName(domain)
  const control = dns.listNameServers(domain.slice(domain.lastIndexOf('.') + 1))
  const texts = await dns.listTexts(name)
  if ('silence' in texts) {
    const problem = `The TXT record ${name} cannot be read: ${texts.silence}.`
    return { proof: null, problem, isEvidence: 'values' in (await control) }
  }
  // Forms of DNS providers take quotes for a part of the value.
  const proof = texts.values.some((value) => value.trim().replace(/^"(.*)"$/, '$1') === token)
  if (proof) return { proof, problem: null, isEvidence: true }
  const problem =
    texts.values.length === 0
      ? `DNS has no TXT record ${name}. A new record can take an hour to be seen.`
      : `The TXT record ${name} has another value.`
  return { proof, problem, isEvidence: true }
}

type ProofCheck = Pick<DomainCheck, 'proof' | 'problem' | 'isEvidence'>
type RouteCheck = Pick<DomainCheck, 'route' | 'routeProblem'>

const ADDRESSES_SHOWN = 3

async function checkRoute(
  dns: DnsClient,
  serverAddresses: ServerAddresses,
  domain: string,
): Promise<RouteCheck> {
  const [aliases, found, own] = await Promise.all([
    dns.listAliases(domain),
    dns.listAddresses(domain),
    serverAddresses.ask(dns),
  ])
  const { host } = serverAddresses
  const isAlias = 'values' in aliases && aliases.values.some((alias) => alias.toLowerCase() === host)
  if (isAlias) return { route: true, routeProblem: null }
  if ('silence' in found) return { route: null, routeProblem: null }
  if (found.values.length === 0)
    return { route: false, routeProblem: `DNS leads nobody to ${domain} yet: it has no address.` }
  if (found.values.some((address) => own.includes(address))) return { route: true, routeProblem: null }
  // A server in a private network has such an address for its visitors, and knows it as its own.
  const inside = found.values.filter(isPrivate)
  if (inside.length > 0) return { route: false, routeProblem: toPrivateProblem(domain, inside) }
  if (own.length === 0) return { route: null, routeProblem: null }
  const shown = found.values.slice(0, ADDRESSES_SHOWN).join(', ')
  return {
    route: false,
    routeProblem: `DNS leads visitors of ${domain} to ${shown}, and not to this server. That is right only where a proxy of yours is in between.`,
  }
}

function toPrivateProblem(domain: string, addresses: string[]): string {
  const shown = addresses.slice(0, ADDRESSES_SHOWN).join(', ')
  const kind = addresses.length === 1 ? 'a private address' : 'private addresses'
  return `DNS leads visitors of ${domain} to ${shown}: ${kind}, which only your own network can reach. Set the server’s public address.`
}

/** Ranges as ipaddr.js names them. Nobody on the internet reaches an address in one of them. */
const PRIVATE_RANGES = ['private', 'loopback', 'linkLocal', 'carrierGradeNat', 'uniqueLocal', 'unspecified']
const isPrivate = (address: string) => PRIVATE_RANGES.includes(parseIpAddress(address)?.range() ?? '')
