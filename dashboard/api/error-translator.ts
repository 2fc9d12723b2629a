// Translates the API's messages. One that the catalog does not have stays English.

const escapePattern = (text: string) => text.replace(/[.*+?^$()[\]\\|]/g, '\\$&')

/** `darf höchstens 40 Zeichen haben` for `must be at most 40 characters`, by `must be at most {0} characters` */
export const createErrorTranslator = (texts: Record<string, string>) => (message: string) => {
  for (const [english, text] of Object.entries(texts)) {
    const values = new RegExp(`^${escapePattern(english).replace(/\{\d+\}/g, '(.*)')}$`).exec(message)
    if (values) return text.replace(/\{(\d+)\}/g, (_, index) => values[Number(index) + 1] ?? '')
  }
  return message
}
