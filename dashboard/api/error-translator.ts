// Translates the server's messages, and known messages inside them. Messages that are not in the catalog stay English.

const escapePattern = (text: string) => text.replace(/[.*+?^$()[\]\\|]/g, '\\$&')

/** `darf höchstens 40 Zeichen haben` for `must be at most 40 characters`, by `must be at most {0} characters` */
export function createErrorTranslator(texts: Record<string, string>) {
  return function translate(message: string): string {
    for (const [english, text] of Object.entries(texts)) {
      const values = new RegExp(`^${escapePattern(english).replace(/\{\d+\}/g, '(.*)')}$`).exec(message)
      if (values) return text.replace(/\{(\d+)\}/g, (_, index) => translate(values[Number(index) + 1] ?? ''))
    }
    return message
  }
}
