// The name of a field in readable words, for fields without a label.

/** `first_name`, `first-name` and `firstName` become `First name`. */
export function toReadableName(name: string): string {
  const words = name
    .replace(/\[\d*\]$/, '')
    .replace(
      /([\p{Ll}\d])(\p{Lu})(?=\p{Ll})/gu,
      (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`,
    )
    .replace(/[_\-.[\]]+/g, ' ')
    .trim()
  return words === '' ? name : words.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())
}
