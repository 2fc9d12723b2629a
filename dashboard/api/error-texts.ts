// Translates the API's messages, which are English everywhere. One that the catalog does not have stays English.

import { ERROR_TEXTS } from './error-catalog.ts'

const escapePattern = (text: string) => text.replace(/[.*+?^$()[\]\\|]/g, '\\$&')

/** `darf höchstens 40 Zeichen haben` for `must be at most 40 characters`, by `must be at most {0} characters` */
export function translateError(message: string): string {
  for (const [english, text] of Object.entries(ERROR_TEXTS)) {
    const values = new RegExp(`^${escapePattern(english).replace(/\{\d+\}/g, '(.*)')}$`).exec(message)
    if (values) return text.replace(/\{(\d+)\}/g, (_, index) => values[Number(index) + 1] ?? '')
  }
  return message
}
