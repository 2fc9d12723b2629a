// Reads from a request what the redirect rules of a link ask of its visitor.

import { createGenerationCache } from '../../lib/generation-cache.ts'
import { deviceForTargeting } from '../../lib/user-agent.ts'
import type { GeoLookup } from '../../storage/geo.ts'
import type { HitRequest } from '../hits/record.ts'
import type { CompiledRules, RuleVisitor } from '../links/redirect-rules/find-rule.ts'
import type { RuleDevice, RuleSystem } from '../links/redirect-rules/schema.ts'
import { USER_AGENT_MAX } from '../visitors/is-bot.ts'
import { parseUserAgent } from '../visitors/user-agent.ts'

/** Reads only what the rules ask for, and looks the country up when a rule has nothing else left to ask. */
export function toRuleVisitor(
  geo: () => GeoLookup,
  { at, query, address, headers }: HitRequest,
  { asksClient, asksLanguage }: CompiledRules,
): RuleVisitor {
  const client = asksClient ? readClient(headers.get('user-agent')) : undefined
  let country: string | null | undefined
  return {
    at,
    query,
    get country() {
      if (country === undefined) country = geo().findPlace(address).country
      return country
    },
    device: client?.device ?? 'desktop',
    os: client?.os ?? null,
    language: asksLanguage ? readPreferredLanguage(headers.get('accept-language')) : null,
  }
}

const SYSTEMS: Record<string, RuleSystem> = {
  Windows: 'windows',
  macOS: 'macos',
  Linux: 'linux',
  'Chrome OS': 'chromeos',
}

/** What is no phone and no tablet counts as a desktop, as in `deviceTargeting`. */
const DEVICES: Record<string, RuleDevice> = { Mobile: 'mobile', Tablet: 'tablet' }

/** Most visitors have one of a few user agents. */
const clients = createGenerationCache(2000, (userAgent): Pick<RuleVisitor, 'device' | 'os'> => {
  const { device, os } = parseUserAgent(userAgent)
  const target = deviceForTargeting(userAgent)
  return {
    device: DEVICES[device ?? ''] ?? 'desktop',
    os: target === 'desktop' ? (SYSTEMS[os ?? ''] ?? null) : target,
  }
})

const readClient = (userAgent: string | null) => clients.get((userAgent ?? '').slice(0, USER_AGENT_MAX))

/** Nobody reads more languages than fit. */
const HEADER_MAX = 1000

const languages = createGenerationCache(2000, (header) => ({ language: parsePreferredLanguage(header) }))

/** @param header `Accept-Language` */
export const readPreferredLanguage = (header: string | null): string | null =>
  header === null ? null : languages.get(header.slice(0, HEADER_MAX)).language

/**
 * The language that a visitor likes best: the first one with the highest weight (RFC 9110 §12.5.4).
 * @returns its primary part in lower case; null where the header names none
 */
function parsePreferredLanguage(header: string): string | null {
  let best: { language: string; weight: number } | undefined
  for (const part of header.split(',')) {
    const [range = '', ...parameters] = part.split(';')
    const language = /^[a-z]{2,3}(?=-|$)/.exec(range.trim().toLowerCase())?.[0]
    const weight = readWeight(parameters)
    if (language !== undefined && weight > (best?.weight ?? 0)) best = { language, weight }
  }
  return best?.language ?? null
}

/** 1 without a weight, and 0 for one that nobody can read. */
function readWeight(parameters: string[]): number {
  const weight = parameters.map((text) => text.trim().toLowerCase()).find((text) => text.startsWith('q='))
  if (weight === undefined) return 1
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0
}
