// Finds the ISO 3166-1 code of a country by its code or its English name.

import { foldCase, normalizeUnicode } from '../../../lib/text.ts'
import { CONTINENTS } from '../../../storage/continents.ts'

/** Names that tools use instead of the CLDR names of `Intl.DisplayNames`. */
const OTHER_NAMES: Record<string, string> = {
  'bolivia, plurinational state of': 'BO',
  'bolivia (plurinational state of)': 'BO',
  bosnia: 'BA',
  'brunei darussalam': 'BN',
  burma: 'MM',
  'cabo verde': 'CV',
  'congo, democratic republic of the': 'CD',
  'congo, the democratic republic of the': 'CD',
  'democratic republic of the congo': 'CD',
  congo: 'CG',
  'republic of the congo': 'CG',
  'cote d’ivoire': 'CI',
  "cote d'ivoire": 'CI',
  'ivory coast': 'CI',
  'czech republic': 'CZ',
  'east timor': 'TL',
  'falkland islands (malvinas)': 'FK',
  'great britain': 'GB',
  'holy see': 'VA',
  'hong kong': 'HK',
  'iran, islamic republic of': 'IR',
  'iran (islamic republic of)': 'IR',
  'islamic republic of iran': 'IR',
  'korea, republic of': 'KR',
  'republic of korea': 'KR',
  "korea, democratic people's republic of": 'KP',
  "lao people's democratic republic": 'LA',
  macao: 'MO',
  macau: 'MO',
  macedonia: 'MK',
  'micronesia, federated states of': 'FM',
  'moldova, republic of': 'MD',
  'republic of moldova': 'MD',
  palestine: 'PS',
  'palestine, state of': 'PS',
  'state of palestine': 'PS',
  'russian federation': 'RU',
  'south korea': 'KR',
  'north korea': 'KP',
  swaziland: 'SZ',
  'syrian arab republic': 'SY',
  taiwan: 'TW',
  'taiwan, province of china': 'TW',
  'tanzania, united republic of': 'TZ',
  'united republic of tanzania': 'TZ',
  'the bahamas': 'BS',
  'the gambia': 'GM',
  'the netherlands': 'NL',
  turkey: 'TR',
  uk: 'GB',
  'united kingdom of great britain and northern ireland': 'GB',
  'united states of america': 'US',
  usa: 'US',
  'venezuela, bolivarian republic of': 'VE',
  'venezuela (bolivarian republic of)': 'VE',
  vietnam: 'VN',
  'viet nam': 'VN',
}

/** Removes accents and case, and normalizes "and". */
const toKey = (name: string) =>
  foldCase(normalizeUnicode(name, 'NFD').replace(/\p{M}/gu, ''))
    .replaceAll('&', 'and')
    .replace(/\s+/g, ' ')
    .trim()

function collectNames(): Map<string, string> {
  const display = new Intl.DisplayNames('en', { type: 'region' })
  const names = new Map<string, string>()
  for (const code of CONTINENTS.keys()) {
    const name = display.of(code) ?? code
    names.set(toKey(name), code)
    // Most tools write `Myanmar` for `Myanmar (Burma)`.
    names.set(toKey(name.replace(/\s*\(.*\)$/, '')), code)
    names.set(toKey(name.replace(/\bSt\. /, 'Saint ')), code)
  }
  for (const [name, code] of Object.entries(OTHER_NAMES)) names.set(toKey(name), code)
  return names
}

let names: Map<string, string> | undefined

/** @returns null for an unknown country, such as `Unknown` */
export function findCountryCode(text: string | null): string | null {
  if (text === null || text === '' || text.length > 100) return null
  const code = text.trim().toUpperCase()
  if (CONTINENTS.has(code)) return code
  names ??= collectNames()
  return names.get(toKey(text)) ?? null
}
