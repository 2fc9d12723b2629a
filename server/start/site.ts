// The site of this server: its short domain, its own hosts, and the names that no link may take.

import type { Site } from '../features/links/link.ts'
import { readHostName } from '../features/links/names/domain-directory.ts'
import { toReservedOnDomains, toReservedSlugs } from '../features/links/slug.ts'
import { toServerName } from '../lib/web-url.ts'

export interface SiteSettings {
  origin: string
  aliases: string[]
  host?: string
  port: number
  destinationSchemes: string[]
  snippetPath: string
  intakePath: string
}

/**
 * A name that somebody can own as a domain: it has a dot, and its last label is not a number, as in an IPv4 address
 * (https://url.spec.whatwg.org/#ends-in-a-number-checker). All else is the default domain's (docs/adr/0042-hosts.md).
 */
const NAME_OF_DOMAIN = /^[^[].*\.(?!(?:\d+|0x[0-9a-f]*)$)[^.]*$/

/** @param isBlocked says whether the operator blocks a URL's host; absent where nobody chooses destinations */
export function createSite(settings: SiteSettings, isBlocked: Site['isBlocked'] = () => false): Site {
  const { host } = new URL(settings.origin)
  const { host: name = 'localhost' } = settings
  const listening = name.includes(':') ? `[${name.replace(/[[\]]/g, '')}]` : name
  const local = ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '[::]', listening].map(
    (name) => `${name}:${settings.port}`,
  )
  const names = new Set([host, ...settings.aliases].map(readHostName))
  const ownHosts = [...new Set([host, ...settings.aliases, ...local])]
  const servers = new Set(ownHosts.map(toServerName))
  return {
    origin: settings.origin,
    domain: host,
    names,
    ownHosts,
    isShortHost: (requested) => servers.has(toServerName(requested)),
    isOwnHost(requested) {
      const name = readHostName(requested)
      return names.has(name) || name === readHostName(listening) || !NAME_OF_DOMAIN.test(name)
    },
    schemes: settings.destinationSchemes,
    isBlocked,
    reserved: toReservedSlugs([settings.snippetPath, settings.intakePath]),
    reservedOnDomains: toReservedOnDomains([settings.snippetPath, settings.intakePath]),
  }
}
