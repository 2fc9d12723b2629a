// The destinations of one link: its destination, expiration URL, targeting, rules and variants, as a list and replaced.

import type { LinkRow } from '../links/link.ts'
import type { RedirectRule } from '../links/redirect-rules/schema.ts'
import type { UpdateLinkInput } from '../links/schema.ts'
import type { Variant } from '../links/split/schema.ts'

export type LinkUrlColumns = Pick<
  LinkRow,
  'destination_url' | 'expired_url' | 'expires_at' | 'geo_targeting' | 'device_targeting' | 'rules' | 'split'
>

const readTargets = (json: string): Record<string, string> => (json === '{}' ? {} : JSON.parse(json))
const readRules = (json: string): RedirectRule[] => (json === '[]' ? [] : JSON.parse(json))
const readSplit = (json: string | null): Variant[] => (json === null ? [] : JSON.parse(json))

/** The URLs that visitors can be sent to, each once. A link that has expired only leads to its expiration URL. */
export function listLinkUrls(link: LinkUrlColumns, now: number): Set<string> {
  const expired = link.expired_url === null ? [] : [link.expired_url]
  if (link.expires_at !== null && link.expires_at <= now) return new Set(expired)
  return new Set([
    link.destination_url,
    ...expired,
    ...Object.values(readTargets(link.geo_targeting)),
    ...Object.values(readTargets(link.device_targeting)),
    ...readRules(link.rules).map(({ to }) => to),
    ...readSplit(link.split).map(({ url }) => url),
  ])
}

/** @returns the fields of the link that change, or null where it does not have `from` */
export function replaceLinkUrl(link: LinkUrlColumns, from: string, to: string): UpdateLinkInput | null {
  const replace = (url: string) => (url === from ? to : url)
  const replaceAll = (targets: Record<string, string>) =>
    Object.fromEntries(Object.entries(targets).map(([key, url]) => [key, replace(url)]))
  const [countries, devices] = [readTargets(link.geo_targeting), readTargets(link.device_targeting)]
  const [rules, split] = [readRules(link.rules), readSplit(link.split)]
  const has = (urls: string[]) => urls.includes(from)
  const input: UpdateLinkInput = {
    ...(link.destination_url === from && { destinationUrl: to }),
    ...(link.expired_url === from && { expiredUrl: to }),
    ...(has(Object.values(countries)) && { geoTargeting: replaceAll(countries) }),
    ...(has(Object.values(devices)) && { deviceTargeting: replaceAll(devices) }),
    ...(has(rules.map((rule) => rule.to)) && {
      rules: rules.map((rule) => ({ ...rule, to: replace(rule.to) })),
    }),
    ...(has(split.map(({ url }) => url)) && {
      split: split.map((variant) => ({ ...variant, url: replace(variant.url) })),
    }),
  }
  return Object.keys(input).length === 0 ? null : input
}
