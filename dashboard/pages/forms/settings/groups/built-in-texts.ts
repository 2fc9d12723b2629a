// The built-in messages for mistakes, shown in the empty boxes. Each language is a file; only its messages are
// bundled.

import { messages as de } from '../../../../../server/features/forms/rules/languages/de.json'
import { messages as en } from '../../../../../server/features/forms/rules/languages/en.json'
import { messages as es } from '../../../../../server/features/forms/rules/languages/es.json'
import { messages as fr } from '../../../../../server/features/forms/rules/languages/fr.json'
import { messages as nl } from '../../../../../server/features/forms/rules/languages/nl.json'
import { messages as pt } from '../../../../../server/features/forms/rules/languages/pt.json'

type Texts = Record<string, string>

const LANGUAGES: Record<string, Texts> = { en, de, fr, es, pt, nl }

export const BUILT_IN_LANGUAGES = Object.keys(LANGUAGES)

/** English for a language that has no texts. @returns texts by the name of the mistake */
export const getBuiltInTexts = (locale: string): Texts =>
  LANGUAGES[locale] ?? LANGUAGES[locale.split('-')[0] ?? ''] ?? en
