// Computes how much of its own address a form's page reveals (https://www.w3.org/TR/referrer-policy/).

import type { ParsedPage } from './parse-page.ts'

/** The content of the Referer header in a form's request: the page's address, only its origin, or nothing. */
export type ReferrerReach = 'page' | 'origin' | 'nothing'

export const BROWSER_DEFAULT = 'strict-origin-when-cross-origin'

const POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  BROWSER_DEFAULT,
  'unsafe-url',
]

/** Old values that browsers still accept in `<meta name="referrer">`. */
const LEGACY_VALUES: Record<string, string> = {
  never: 'no-referrer',
  default: BROWSER_DEFAULT,
  always: 'unsafe-url',
  'origin-when-crossorigin': 'origin-when-cross-origin',
}

export interface ReferrerPolicy {
  value: string
  from: 'header' | 'meta' | 'browser'
}

/** The last known value of the header, overridden by later meta elements; without either, the browser's default. */
export function readReferrerPolicy({ metas }: ParsedPage, headers: Headers): ReferrerPolicy {
  let policy: ReferrerPolicy = { value: BROWSER_DEFAULT, from: 'browser' }
  const words = headers.get('referrer-policy')?.toLowerCase().split(',') ?? []
  const known = words.map((word) => word.trim()).findLast((word) => POLICIES.includes(word))
  if (known !== undefined) policy = { value: known, from: 'header' }
  for (const meta of metas) {
    if (meta.get('name')?.trim().toLowerCase() !== 'referrer') continue
    const word = (meta.get('content') ?? '').trim().toLowerCase()
    const value = Object.hasOwn(LEGACY_VALUES, word) ? LEGACY_VALUES[word] : word
    if (value !== undefined && POLICIES.includes(value)) policy = { value, from: 'meta' }
  }
  return policy
}

/** @param from the page's address, if known; an unknown page counts as a page of another https site */
export function toReferrerReach(policy: string, from: URL | null, to: URL): ReferrerReach {
  const sameOrigin = from?.origin === to.origin
  const downgrade = (from?.protocol ?? 'https:') === 'https:' && to.protocol === 'http:'
  switch (policy) {
    case 'unsafe-url':
      return 'page'
    case 'no-referrer':
      return 'nothing'
    case 'same-origin':
      return sameOrigin ? 'page' : 'nothing'
    case 'origin':
      return 'origin'
    case 'origin-when-cross-origin':
      return sameOrigin ? 'page' : 'origin'
    case 'strict-origin':
      return downgrade ? 'nothing' : 'origin'
    case 'no-referrer-when-downgrade':
      return downgrade ? 'nothing' : 'page'
    default:
      return sameOrigin ? 'page' : downgrade ? 'nothing' : 'origin'
  }
}
