// The DNS servers that are asked about domains of workspaces.

import { isIP } from 'node:net'
import type { ProblemReporter } from './setting.ts'

/** @returns undefined for the system's servers */
export function readDnsServers(text: string | undefined, wrong: ProblemReporter): string[] | undefined {
  if (text === undefined) return undefined
  const servers = text.split(/[\s,]+/).filter(Boolean)
  for (const server of servers)
    if (!isDnsServer(server))
      wrong(
        'DNS_SERVERS',
        `"${server}" is not the address of a DNS server`,
        'List addresses such as 9.9.9.9:53,[2620:fe::fe]:53, or leave it out for the servers of the system.',
      )
  return servers.filter(isDnsServer)
}

/** An address, with or without a port. A name would need DNS itself. IPv6 with a port needs brackets. */
function isDnsServer(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^[\]]*?))(?::(\d{1,5}))?$/.exec(text) ?? []
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false
  return bracketed === undefined ? isIP(plain ?? '') === 4 || isIP(text) === 6 : isIP(bracketed) === 6
}
