// The members of a JSON object as they were sent: a parsed object puts names that are numbers first, keeps one of two
// equal names, and has rounded long numbers.

export interface JsonMember {
  name: string
  /** The text of the value, as it stands. */
  json: string
}

/** @param text of a JSON object that is known to be valid */
export function* readJsonMembers(text: string): Generator<JsonMember> {
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at)
    const value = skipSpace(text, text.indexOf(':', nameEnd) + 1)
    const end = valueEnd(text, value)
    yield { name: JSON.parse(text.slice(at, nameEnd)), json: text.slice(value, end).trimEnd() }
    // Past the comma; after the last member this stands on nothing that begins a name.
    at = skipSpace(text, end + 1)
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** Where the string that begins at `start` is over. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** Where the comma or brace stands that ends the value. */
function valueEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  for (;;) {
    const char = text[at]
    if (char === '"') {
      at = stringEnd(text, at)
      continue
    }
    if (depth === 0 && (char === ',' || char === '}')) return at
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    at++
  }
}
