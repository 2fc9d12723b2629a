// Reads the members of a JSON object as they were sent. JSON.parse cannot: its object puts names that are numbers
// first, keeps only one of two equal names, and rounds long numbers.

export interface JsonMember {
  name: string
  /** The value as JSON text, unchanged. */
  json: string
}

/** @param text a JSON object that JSON.parse accepts */
export function* readJsonMembers(text: string): Generator<JsonMember> {
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const nameEnd = findStringEnd(text, at)
    const value = skipSpace(text, text.indexOf(':', nameEnd) + 1)
    const end = findValueEnd(text, value)
    yield { name: JSON.parse(text.slice(at, nameEnd)), json: text.slice(value, end).trimEnd() }
    // Skip the comma. After the last member there is no quote here, and the loop ends.
    at = skipSpace(text, end + 1)
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** @returns the index after the string that begins at `start` */
function findStringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** @returns the index of the comma or brace that ends the value */
function findValueEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  for (;;) {
    const char = text[at]
    if (char === '"') {
      at = findStringEnd(text, at)
      continue
    }
    if (depth === 0 && (char === ',' || char === '}')) return at
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    at++
  }
}
