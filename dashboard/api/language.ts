// The language of the page. The server chooses it (server/web/page-language.ts); the texts are those of its bundle.

const root = globalThis.document?.documentElement

/** For example `de`. Tests have no page: they use English. */
export const language = root?.lang || 'en'
/** The languages of this server. */
export const languages = root?.dataset.languages?.split(' ') ?? [language]
/** For numbers and dates: the browser's own variant of the language, such as `de-CH` or `en-GB`. */
export const locale = root
  ? (navigator.languages.find((each) => each.split('-')[0] === language) ?? language)
  : undefined

/**
 * Loads the page again in the language of the account. null: in the browser's.
 * @returns whether the page is loaded again
 */
export function followLanguage(wanted: string | null): boolean {
  const value = wanted !== null && languages.includes(wanted) ? wanted : ''
  const cookie = `towpath_language=${value}`
  const isKept = document.cookie.split('; ').includes(cookie)
  // Without cookies, loading again would change nothing.
  if (value === '' ? !document.cookie.includes('towpath_language=') : value === language || isKept)
    return false
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https
  document.cookie = `${cookie};path=/app;max-age=${value === '' ? 0 : 31_536_000};samesite=lax`
  location.reload()
  return true
}
