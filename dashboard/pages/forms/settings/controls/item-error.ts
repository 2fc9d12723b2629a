// Turns the API's numbered errors of list items into messages that name the item.

import { findFieldError } from '../../../../ui/forms/form-error.tsx'

/** The message for a list, with the item that it is about: `“a b”: must have a character other than *`. */
export function findItemError(
  errors: Record<string, string>,
  field: string,
  items: readonly string[],
): string | undefined {
  const message = findFieldError(errors, field)
  const found = Object.keys(errors).find((name) => name.startsWith(`${field}.`))
  const item = found && items[Number(found.slice(field.length + 1))]
  return message && item ? `“${item}”: ${message.charAt(0).toLowerCase()}${message.slice(1)}` : message
}
