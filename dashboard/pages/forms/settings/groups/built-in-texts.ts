// The built-in texts for mistakes, which stand in the empty boxes. Each language is a file of its own, loaded when it is
// chosen.

import { queryOptions } from '@tanstack/react-query'

const LANGUAGES: Record<string, () => Promise<{ messages: Record<string, string> }>> = {
  en: () => import('../../../../../server/features/forms/rules/languages/en.json'),
  de: () => import('../../../../../server/features/forms/rules/languages/de.json'),
  fr: () => import('../../../../../server/features/forms/rules/languages/fr.json'),
  es: () => import('../../../../../server/features/forms/rules/languages/es.json'),
  pt: () => import('../../../../../server/features/forms/rules/languages/pt.json'),
  nl: () => import('../../../../../server/features/forms/rules/languages/nl.json'),
}

export const BUILT_IN_LANGUAGES = Object.keys(LANGUAGES)

/** English for a language that has no texts. @returns texts by the name of the mistake */
export const builtInTextsQuery = (locale: string) => {
  const load = LANGUAGES[locale] ?? LANGUAGES[locale.split('-')[0] ?? ''] ?? LANGUAGES.en
  return queryOptions({
    queryKey: ['texts for mistakes', locale],
    queryFn: async () => (await load?.())?.messages ?? {},
    staleTime: Number.POSITIVE_INFINITY,
  })
}
