// Error messages for fields, in the sender's language: a form's own texts first, then the built-in ones
// (docs/contract.md §7, §13).

import { fillText, getTexts, type MessageKey } from './languages.ts'
import type { Mistake } from './mistake.ts'
import type { FieldMessages } from './schema.ts'
import type { SenderLanguage } from './sender-language.ts'

export interface MessageSource {
  language: SenderLanguage
  /** The form's own texts. */
  messages: FieldMessages
}

/** @returns messages by field */
export const describeMistakes = (
  source: MessageSource,
  mistakes: Map<string, Mistake>,
): Map<string, string> =>
  new Map(Array.from(mistakes, ([field, mistake]) => [field, describeMistake(source, field, mistake)]))

export function describeMistake(source: MessageSource, field: string, mistake: Mistake): string {
  const key = toMessageKey(mistake)
  const { builtIn } = source.language
  const text = findOwnText(source, field, key) ?? getTexts(builtIn).messages[key]
  return fillText(text, toValues(mistake, builtIn))
}

const toMessageKey = (mistake: Mistake): MessageKey => (mistake.rule === 'type' ? mistake.type : mistake.rule)

/** A text for the field in any locale of the sender says more than a text for the rule. */
function findOwnText({ language, messages }: MessageSource, field: string, key: MessageKey) {
  for (const name of [`${field}.${key}`, key]) {
    for (const locale of language.own) {
      const texts = messages[locale]
      if (texts && Object.hasOwn(texts, name)) return texts[name]
    }
  }
  return undefined
}

function toValues(mistake: Mistake, language: string): Record<string, string> {
  if (mistake.rule === 'fileTooLarge') return { limit: formatFileSize(mistake.limit, language) }
  if ('limit' in mistake) return { limit: formatNumber(mistake.limit, language) }
  return mistake.rule === 'fileType' ? { accept: mistake.accept.join(', ') } : {}
}

const KIB = 1024
const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

/** As the language writes it: `65.536`. */
const formatNumber = (value: number, language: string) => new Intl.NumberFormat(language).format(value)

/** 10 MiB are `10 MB` to people: no sender's file manager counts more exactly. Rounded down: the limit is never less. */
function formatFileSize(bytes: number, language: string): string {
  let value = bytes
  let unit = 0
  for (; value >= KIB && unit < UNITS.length - 1; unit++) value /= KIB
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[unit],
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
    roundingMode: 'floor',
  } as Intl.NumberFormatOptions).format(value)
}
