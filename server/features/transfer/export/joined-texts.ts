// A list of texts in one cell of a CSV file: `spring, offers\, old`.

export const joinTexts = (texts: string[]): string =>
  texts.map((text) => text.replace(/[\\,]/g, '\\$&')).join(', ')

/** Reverses `joinTexts`, for texts without white space at their ends. */
export function splitTexts(joined: string): string[] {
  const texts = [...joined.matchAll(/(?:[^\\,]|\\.|\\$)+/gsu)].map(([part]) =>
    part.trim().replace(/\\(.)/gsu, '$1'),
  )
  return texts.filter((text) => text !== '')
}
