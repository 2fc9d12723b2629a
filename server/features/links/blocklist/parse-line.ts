// Reads one line of a blocklist: a host, or a line of a hosts file (`0.0.0.0 bad.example`).

import { trimEnd } from '../../../lib/clean-text.ts'
import { parseIpAddress } from '../../../lib/parse-ip.ts'
import { parseUrl } from '../../../lib/web-url.ts'

/** The hosts of a line; `unreadable` where a word is no host. */
export interface BlocklistLine {
  hosts: string[]
  unreadable: boolean
}

const LINE_MAX = 1_000

/** Names at the head of most published hosts files. They say where this machine is, and block nothing. */
const OWN_NAMES = new Set(['localhost', 'localhost.localdomain', 'local', 'broadcasthost', '0.0.0.0'])
const OWN_NAME = /^ip6-/

/** A name that `URL.hostname` returns unchanged. A numeric last label would make it an IPv4 address. */
const PLAIN_HOST = /^(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/

export function parseBlocklistLine(text: string): BlocklistLine {
  if (text.length > LINE_MAX) return { hosts: [], unreadable: true }
  const comment = text.indexOf('#')
  const words = (comment < 0 ? text : text.slice(0, comment)).trim().toLowerCase().split(/\s+/)
  const [first = ''] = words
  if (first === '') return { hosts: [], unreadable: false }
  if (words.length === 1) return toLine([parseBlockedHost(first)])
  // A hosts file: an address, then names for it. `fe80::1%lo0` has a zone.
  if (!parseIpAddress(first.replace(/%.*/, ''))) return { hosts: [], unreadable: true }
  const names = words.slice(1).filter((word) => !OWN_NAMES.has(word) && !OWN_NAME.test(word))
  return toLine(names.map(parseBlockedHost))
}

const toLine = (hosts: (string | undefined)[]): BlocklistLine => ({
  hosts: hosts.filter((host) => host !== undefined),
  unreadable: hosts.includes(undefined),
})

/** @returns the host as `toBlockedName` has it: `*.bad.example` and `.bad.example` are `bad.example` */
function parseBlockedHost(word: string): string | undefined {
  const name = word.replace(/^\*?\./, '')
  if (PLAIN_HOST.test(name) && !name.includes('xn--')) return name.length <= 253 ? name : undefined
  const host = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  // Only a host: a path, a port or a user name would be dropped silently.
  if (!/^(?:\[[0-9a-f:.]+\]|[^\s/?#@:\\[\]%*]+)$/.test(host)) return undefined
  const url = parseUrl(`http://${host}/`)
  return (url && toHostName(url)) || undefined
}

/** The host of a URL without the dot that a full name may end with. */
export const toHostName = ({ hostname }: URL) => trimEnd(hostname.toLowerCase(), '.')
