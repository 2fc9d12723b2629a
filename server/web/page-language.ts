// Chooses the language of the dashboard's page: the one that the person has chosen (a cookie that the dashboard sets), else
// the browser's, else English.

import { parseAcceptLanguage } from '../features/forms/rules/sender-language.ts'

/** dashboard/api/language.ts */
const COOKIE = /(?:^|;\s*)towpath_language=([a-z]{2,3})(?:;|$)/

/** @param languages besides English */
export function choosePageLanguage(headers: Headers, languages: readonly string[]): string {
  const chosen = COOKIE.exec(headers.get('cookie') ?? '')?.[1]
  const accepted = parseAcceptLanguage(headers.get('accept-language') ?? '')
  const wanted = [chosen, ...accepted.map((locale) => locale.split('-')[0])]
  return wanted.find((each) => each === 'en' || languages.includes(each ?? '')) ?? 'en'
}
