// Turns the API's errors for list items, which have an index, into messages that name the item.

import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { lowerFirst } from '../../../../ui/text.ts'

/** The error of a list, with the wrong item: `“a b”: must have a character other than *`. */
export function findItemError(
  errors: Record<string, string>,
  field: string,
  items: readonly string[],
): string | undefined {
  const message = findFieldError(errors, field)
  const found = Object.keys(errors).find((name) => name.startsWith(`${field}.`))
  const item = found && items[Number(found.slice(field.length + 1))]
  return message && item ? `“${item}”: ${lowerFirst(message)}` : message
}
