// The name of a submission's sender, for subjects: from the fields that people give names in, else the email address.

import { toOneLine, truncateText } from './safe-text.ts'

export const NAME_FIELD = /^(your[-_ ]?|full[-_ ]?)?name$/i
const FIRST = /^(first|given)[-_ ]?name$/i
const LAST = /^(last|family|sur)[-_ ]?name$/i
/** A longer text is no name. */
const NAME_MAX = 60

/** @returns null where nobody is named */
export function toSenderName(fields: ReadonlyMap<string, string>, email: string | null): string | null {
  const find = (name: RegExp) => {
    for (const [field, value] of fields) {
      const text = name.test(field) ? toOneLine(value.slice(0, 4 * NAME_MAX)) : ''
      if (text !== '') return text
    }
    return ''
  }
  const name =
    find(NAME_FIELD) || [find(FIRST), find(LAST)].filter(Boolean).join(' ') || toOneLine(email ?? '')
  return name === '' ? null : truncateText(name, NAME_MAX)
}
