// Says mistakes in a language: a form's own texts first, then the built-in ones (docs/contract.md §7, §13).

import type { Mistake } from './mistake.ts'

/** @returns messages by field */
export const describeMistakes = (mistakes: Map<string, Mistake>): Map<string, string> =>
  new Map(Array.from(mistakes, ([field, mistake]) => [field, describeMistake(mistake)]))

function describeMistake(mistake: Mistake): string {
  switch (mistake.rule) {
    case 'required':
      return 'This field is required'
    case 'text':
      return 'Must be a string'
    case 'noUploads':
      return 'File uploads are not supported'
    default:
      return 'Enter a valid email address'
  }
}
