// Checks JSON text before it is parsed, in one pass and without creating values: its depth, its number of values, and
// whether an object has a member `__proto__`. Parsing and validating a hostile megabyte takes a hundred times as
// long.

export interface JsonLimits {
  /** Levels of lists and objects (RFC 8259 §9 lets a parser limit the depth). */
  depth: number
  /** Values in the whole text. */
  values: number
  /** Items of one list, and members of one object. */
  entries: number
}

/** `undefined` where the text keeps the limits. For text that is no JSON the result means nothing. */
export type JsonExcess = keyof JsonLimits | undefined

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** The longest way to write `"__proto__"`: each character as `\u005f`. */
const PROTO_LENGTH_MAX = 2 + 6 * '__proto__'.length

/** @returns the first limit that the text exceeds, and whether a member has the name `__proto__`, however it is written */
export function scanJson(text: string, limits: JsonLimits): { excess: JsonExcess; namesProto: boolean } {
  const entries = new Uint32Array(limits.depth + 1)
  let [depth, values, namesProto] = [0, 1, false]
  let [nameStart, nameEnd] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        nameStart = at
        at = findClosingQuote(text, at)
        nameEnd = at + 1
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++depth > limits.depth) return { excess: 'depth', namesProto }
        if (++values > limits.values) return { excess: 'values', namesProto }
        entries[depth] = 1
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        // More closing than opening brackets: not JSON.
        if (--depth < 0) return { excess: undefined, namesProto }
        break
      case COMMA:
        if (++values > limits.values) return { excess: 'values', namesProto }
        entries[depth] = (entries[depth] ?? 0) + 1
        if ((entries[depth] ?? 0) > limits.entries) return { excess: 'entries', namesProto }
        break
      case COLON:
        namesProto ||= isProto(text, nameStart, nameEnd)
    }
  }
  return { excess: undefined, namesProto }
}

/** @returns the index of the quote that ends the string, or the last index of a text that ends before it */
function findClosingQuote(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    // An odd number of backslashes escapes the quote.
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}

function isProto(text: string, start: number, end: number): boolean {
  if (end - start > PROTO_LENGTH_MAX) return false
  const written = text.slice(start, end)
  if (!written.includes('\\')) return written === '"__proto__"'
  try {
    return JSON.parse(written) === '__proto__'
  } catch {
    // Not JSON. The parser says so.
    return false
  }
}
