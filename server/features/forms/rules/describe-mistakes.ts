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
    case 'fileTooLarge':
      return `Choose a file of at most ${describeBytes(mistake.limit)}`
    case 'tooManyFiles':
      return mistake.limit === 1 ? 'Choose one file only' : `Choose at most ${mistake.limit} files`
    case 'fileType':
      return `Choose a file of these types: ${mistake.accept.join(', ')}`
    case 'fileRoom':
      return 'No more files can be stored at the moment'
    default:
      return 'Enter a valid email address'
  }
}

const MIB = 1024 * 1024

const describeBytes = (bytes: number) =>
  bytes >= MIB ? `${Math.round((bytes / MIB) * 10) / 10} MB` : `${Math.ceil(bytes / 1024)} kB`
