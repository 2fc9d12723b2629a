// The hosts that reach this server now: those of the default domain, and the verified domains of all workspaces.

import type { DomainDirectory } from './domain-directory.ts'

interface SiteHosts {
  /** The hosts of the default domain, and those that reach this server from the same machine. */
  ownHosts: string[]
}

interface Needs {
  site: SiteHosts
  domains: Pick<DomainDirectory, 'isOwnDomain'>
}

/** Asks the directory each time, so that a domain counts from the moment on at which it redirects. */
export function createOwnHosts({ site, domains }: Needs) {
  const hosts = new Set(site.ownHosts)
  return { has: (host: string) => hosts.has(host) || domains.isOwnDomain(host) }
}

/** The same hosts as a list, for another process. */
export const listOwnHosts = (site: SiteHosts, domains: string[]) => [
  ...new Set([...site.ownHosts, ...domains]),
]
