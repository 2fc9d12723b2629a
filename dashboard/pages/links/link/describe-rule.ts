// A redirect rule in words, and the names of what it can ask for.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { locale } from '../../../api/language.ts'
import { formatCountryName, formatOr, formatTime } from '../../../ui/format.ts'

type RuleConditions = LinkResource['rules'][number]['when']

export const RULE_DEVICE_NAMES = { mobile: 'Mobile', tablet: 'Tablet', desktop: 'Desktop' } as const
export const RULE_SYSTEM_NAMES = {
  ios: 'iOS',
  android: 'Android',
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
  chromeos: 'ChromeOS',
} as const

const languageNames = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })
/** A text that is no code, such as half of one, stays as it is. */
const formatLanguage = (code: string) => (/^[a-z]{2,3}$/.test(code) ? (languageNames.of(code) ?? code) : code)

/** `Germany or Austria, Tablet, German`; `Everyone` without a condition */
export function describeRule({
  country,
  device,
  os,
  language,
  query,
  after,
  before,
}: RuleConditions): string {
  const parts = [
    country && formatOr(country.map(formatCountryName)),
    device && formatOr(device.map((each) => RULE_DEVICE_NAMES[each])),
    os && formatOr(os.map((each) => RULE_SYSTEM_NAMES[each])),
    language && formatOr(language.map(formatLanguage)),
    query &&
      Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join('&'),
    after && `from ${formatTime(after)}`,
    before && `until ${formatTime(before)}`,
  ].filter(Boolean)
  return parts.join(', ') || 'Everyone'
}
