// Settings of the addresses on which the server listens, and of its public addresses.

import { RESERVED_SLUGS } from '../features/links/slug.ts'
import { type Network, parseNetwork } from '../lib/ip-network.ts'
import { parseIpAddress } from '../lib/parse-ip.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'
import type { SettingName } from './setting-groups.ts'

export function readPort(text: string | undefined, wrong: ProblemReporter): number {
  if (text === undefined) return 3000
  const port = Number(text)
  // Not 0: the system would choose one, and the address in every short link would be wrong.
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  wrong('PORT', `"${text}" is not a port`, 'Use a whole number from 1 to 65535, such as 3000.')
  return 3000
}

/** @returns undefined for every address of this machine */
export function readHost(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined) return undefined
  const name = text.replace(/^\[(.*)\]$/, '$1')
  if (parseIpAddress(name) || /^(?=.*[a-z])[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name)) return name
  wrong('HOST', `"${text}" is not an address to listen on`, 'Leave it out for every one, or use 127.0.0.1.')
  return undefined
}

export function readOrigin(
  text: string | undefined,
  host: string | undefined,
  port: number,
  wrong: ProblemReporter,
): string {
  const local = toLocalOrigin(host, port)
  if (text === undefined) return local
  const url = parseUrl(text)
  const plain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  if (plain && !url.username && !url.password) return url.origin
  wrong(
    'TOWPATH_URL',
    `"${text}" is not a public address`,
    'Use scheme and host only, such as https://go.example.',
  )
  return local
}

/** Names that the default domain answers besides that of `TOWPATH_URL`. @returns each in lower case and ASCII (IDNA) */
export function readAliases(text: string | undefined, wrong: ProblemReporter): string[] {
  const names = text?.split(/[\s,]+/).filter(Boolean) ?? []
  return names.flatMap((name) => {
    // A full stop at the end names the same host.
    const host = /[/?#@:\\]/.test(name) ? undefined : parseUrl(`http://${name}`)?.hostname.replace(/\.$/, '')
    if (host !== undefined && host.length <= 253 && /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(host))
      return [host]
    wrong(
      'TOWPATH_ALIASES',
      `"${name}" is not a host name`,
      'List names without scheme, port and path, such as old.example,go2.example.',
    )
    return []
  })
}

/** Where a browser on this machine finds the server, written as browsers write it: without port 80, in lower case. */
function toLocalOrigin(host: string | undefined, port: number): string {
  const isEverywhere =
    host === undefined || ['0.0.0.0', '::'].includes(parseIpAddress(host)?.toString() ?? '')
  const name = isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const origin = `http://${name}:${port}`
  return parseUrl(origin)?.origin ?? origin
}

export function readNetworks(name: SettingName, get: GetSetting, wrong: ProblemReporter): Network[] {
  const networks: Network[] = []
  for (const part of get(name)
    ?.split(/[\s,]+/)
    .filter(Boolean) ?? []) {
    const network = parseNetwork(part)
    if (network) networks.push(network)
    else wrong(name, `"${part}" is not a network`, 'List CIDR ranges, such as 10.0.0.0/8,127.0.0.1.')
  }
  return networks
}

const PATH = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** Each path is one segment that names nothing else. */
export function readPaths(
  get: GetSetting,
  wrong: ProblemReporter,
): { snippetPath: string; intakePath: string } {
  const read = (name: SettingName, usual: string) => {
    const path = get(name) ?? usual
    const taken = path !== usual && RESERVED_SLUGS.has(path.toLowerCase())
    const fix = `Use one name of letters, digits, "-", "_" and ".", such as ${usual}.`
    if (!PATH.test(path)) wrong(name, `"${path}" is not the name of a path`, fix)
    else if (taken) wrong(name, `"${path}" is the name of something else`, 'Choose another one.')
    return path
  }
  const [snippetPath, intakePath] = [read('SNIPPET_PATH', 't.js'), read('INTAKE_PATH', 'e')]
  const same = snippetPath.toLowerCase() === intakePath.toLowerCase()
  if (same && !RESERVED_SLUGS.has(intakePath.toLowerCase())) {
    wrong('INTAKE_PATH', `"${intakePath}" is the name of the snippet too`, 'Choose another one.')
  }
  return { snippetPath, intakePath }
}
