// The site of this server: its short domain, its own hosts, and the names that no link may take.

import { isIP } from 'node:net'
import { readHostName } from './features/links/domains/domain-directory.ts'
import type { Site } from './features/links/link.ts'
import { toReservedOnDomains, toReservedSlugs } from './features/links/slug.ts'

export interface SiteSettings {
  origin: string
  host?: string
  port: number
  destinationSchemes: string[]
  snippetPath: string
  intakePath: string
}

/** @param isBlocked says whether the operator blocks a URL's host; absent where nobody chooses destinations */
export function createSite(settings: SiteSettings, isBlocked: Site['isBlocked'] = () => false): Site {
  const { host } = new URL(settings.origin)
  const { host: name = 'localhost' } = settings
  const listening = name.includes(':') ? `[${name.replace(/[[\]]/g, '')}]` : name
  const local = ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '[::]', listening].map(
    (name) => `${name}:${settings.port}`,
  )
  const ownNames = new Set([host, listening].map(readHostName))
  return {
    origin: settings.origin,
    domain: host,
    ownHosts: [...new Set([host, ...local])],
    // Nobody can own an address or a name without a dot as a domain (docs/adr/0042-hosts.md).
    isOwnHost(requested) {
      const name = readHostName(requested)
      return ownNames.has(name) || !name.includes('.') || isIP(name.replace(/^\[|\]$/g, '')) > 0
    },
    schemes: settings.destinationSchemes,
    isBlocked,
    reserved: toReservedSlugs([settings.snippetPath, settings.intakePath]),
    reservedOnDomains: toReservedOnDomains([settings.snippetPath, settings.intakePath]),
  }
}
