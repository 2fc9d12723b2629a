// The IP addresses of this server's name in DNS: the A records of a domain must equal them. They are looked up when a
// domain is checked, so reading a domain waits for no DNS server.

import { isIP } from 'node:net'
import { describeError, log } from '../../../lib/log.ts'
import type { Site } from '../link.ts'
import { readHostName } from '../names/domain-directory.ts'
import type { DnsClient, OpenDnsClient } from './dns-client.ts'

export interface ServerAddresses {
  /** The name of the default domain, which a CNAME names. */
  host: string
  /** The addresses as last read; empty before the first answer. */
  known(): string[]
  ask(dns: Pick<DnsClient, 'listAddresses'>): Promise<string[]>
}

export function createServerAddresses(
  site: Pick<Site, 'domain'>,
  openDnsClient: OpenDnsClient,
): ServerAddresses {
  const host = readHostName(site.domain)
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) > 0) return { host, known: () => [address], ask: async () => [address] }
  // A name without a dot is of a local network: DNS knows nothing of it.
  if (!host.includes('.')) return { host, known: () => [], ask: async () => [] }
  let addresses: string[] = []
  let asked = false
  const ask: ServerAddresses['ask'] = async (dns) => {
    asked = true
    const answer = await dns.listAddresses(host)
    if ('values' in answer) addresses = answer.values.sort()
    return addresses
  }
  return {
    host,
    ask,
    known() {
      if (!asked) {
        const dns = openDnsClient()
        ask(dns)
          .catch((error) => log.warn('own_addresses_unknown', describeError(error)))
          .finally(dns.close)
      }
      return addresses
    },
  }
}
