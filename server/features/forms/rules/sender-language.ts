// Chooses the language of a sender's pages and emails: `_lang` of the form, else the browser's `Accept-Language`, else
// English.

import { createGenerationCache } from '../../../lib/generation-cache.ts'
import { DEFAULT_LANGUAGE, hasTexts } from './languages.ts'

export interface SenderLanguage {
  /** The code of the language that the sender named and that there are texts for, such as `de`; null: none of them. */
  known: string | null
  /** The language of the built-in texts. */
  builtIn: string
  /** The locales of the form's own texts that suit the sender, best first, as the form writes them. */
  own: string[]
}

export interface LanguageRequest {
  /** The value of `_lang`, or of the parameter `lang`. */
  lang?: string | null | undefined
  acceptLanguage: string | null
}

/** Reads the parameter `lang` and the header. Uses no URL parser, because a broken Host header makes a URL that it refuses. */
export function readLanguageRequest(request: Request): LanguageRequest {
  const query = /\?([^#]*)/.exec(request.url)?.[1]
  const lang = query === undefined ? null : new URLSearchParams(query).get('lang')
  return { lang, acceptLanguage: request.headers.get('accept-language') }
}

/** `de`, `de-CH`, `zh-Hant-TW`: as https://www.rfc-editor.org/rfc/rfc5646#section-2.1 at its most usual. */
const LOCALE = /^[a-z]{2,3}(?:-[a-z\d]{2,8}){0,3}$/i

/** @returns the locale in its usual spelling (`de-CH`); undefined for a text that is none */
export function normalizeLocale(text: string): string | undefined {
  if (!LOCALE.test(text)) return undefined
  try {
    return Intl.getCanonicalLocales(text)[0]
  } catch {
    return undefined
  }
}

/** Browsers send a few hundred different headers. */
const BY_HEADER = createGenerationCache(1_000, (header) => choose(undefined, header, []))

/** @param ownLocales of the form's own texts, in their usual spelling */
export const chooseLanguage = (
  { lang, acceptLanguage }: LanguageRequest,
  ownLocales: string[] = [],
): SenderLanguage =>
  lang || ownLocales.length > 0
    ? choose(lang, acceptLanguage ?? '', ownLocales)
    : BY_HEADER.get(acceptLanguage ?? '')

function choose(
  lang: string | null | undefined,
  acceptLanguage: string,
  ownLocales: string[],
): SenderLanguage {
  // WordPress and Java write `de_DE`.
  const named = normalizeLocale((lang ?? '').trim().replaceAll('_', '-'))
  for (const locale of [...(named ? [named] : []), ...parseAcceptLanguage(acceptLanguage)]) {
    const candidates = shorten(locale)
    const builtIn = candidates.find(hasTexts)
    const own = ownLocales.filter((key) => candidates.includes(key))
    if (builtIn === undefined && own.length === 0) continue
    return createSenderLanguage(candidates.at(-1) as string, builtIn, own, ownLocales)
  }
  return createSenderLanguage(null, undefined, [], ownLocales)
}

function createSenderLanguage(
  known: string | null,
  builtIn: string | undefined,
  own: string[],
  ownLocales: string[],
): SenderLanguage {
  own.sort((a, b) => b.length - a.length)
  // The form's own English comes before the built-in one.
  if (builtIn === undefined) own.push(...ownLocales.filter((locale) => locale === DEFAULT_LANGUAGE))
  return { known, builtIn: builtIn ?? DEFAULT_LANGUAGE, own }
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`: the look-up of https://www.rfc-editor.org/rfc/rfc4647#section-3.4. */
function shorten(locale: string): string[] {
  const parts = locale.split('-')
  return parts.map((_, end) => parts.slice(0, parts.length - end).join('-'))
}

/** Far more than browsers send. The rest of a longer header is not read. */
const HEADER_MAX = 1_000
const RANGES_MAX = 30
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

/**
 * Reads `de-CH, fr;q=0.8, *;q=0.1` (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4).
 * @returns the locales that the sender accepts, by preference. Omits `*` and anything that is not a language range.
 */
export function parseAcceptLanguage(header: string): string[] {
  const start = header.slice(0, HEADER_MAX)
  // The last range of a longer header may be cut in its middle.
  const text = header.length > HEADER_MAX ? start.slice(0, Math.max(0, start.lastIndexOf(','))) : start
  const parts = text.split(',', RANGES_MAX)
  const ranges = parts.flatMap((part) => {
    const [range = '', ...parameters] = part.split(';').map((word) => word.trim())
    const locale = normalizeLocale(range)
    const weight = readWeight(parameters)
    return locale !== undefined && weight > 0 ? [{ locale, weight }] : []
  })
  return ranges.sort((a, b) => b.weight - a.weight).map(({ locale }) => locale)
}

/** @returns 0 for an invalid weight: the range is not used */
function readWeight(parameters: string[]): number {
  if (parameters.length === 0) return 1
  const weight = parameters.length === 1 ? WEIGHT.exec(parameters[0] as string)?.[1] : undefined
  return Number(weight ?? 0)
}
