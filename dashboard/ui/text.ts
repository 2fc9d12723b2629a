// Helpers for texts in any language. The build puts the translations into the code (docs/languages.md).

import { language } from '../api/language.ts'

/** Marks a text that the build cannot tell from code, such as one small word: `t('sent')`. */
export const t = (text: string) => text

/** German and Luxembourgish write nouns with a capital letter everywhere. */
const hasCapitalNouns = /^(?:de|lb)$/.test(language)

/** A label inside a sentence: `clicks` for `Clicks`. */
export const inSentence = (label: string) => (hasCapitalNouns ? label : label.toLowerCase())

/** A sentence after a colon. */
export const lowerFirst = (text: string) =>
  hasCapitalNouns ? text : text.charAt(0).toLowerCase() + text.slice(1)
