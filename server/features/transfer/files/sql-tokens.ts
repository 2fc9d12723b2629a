// The tokens of an SQL dump: blanks and comments, names, values.

/** The text ends before the token does. */
export const INCOMPLETE = -1

/** @returns the beginning of the next token, or INCOMPLETE inside a comment */
export function skipSqlBlanks(text: string, start: number, isEnd: boolean): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 32 || (code >= 9 && code <= 13)) {
      at++
      continue
    }
    if (code !== 0x23 && code !== 0x2d && code !== 0x2f) return Math.min(at, text.length)
    const next = text[at + 1]
    if (code !== 0x23 && next === undefined && !isEnd) return INCOMPLETE
    if (code === 0x2f) {
      if (next !== '*') return at
      const end = text.indexOf('*/', at + 2)
      if (end < 0) return INCOMPLETE
      at = end + 2
      continue
    }
    if (code === 0x2d) {
      if (next !== '-') return at
      const third = text[at + 2]
      if (third === undefined && !isEnd) return INCOMPLETE
      // In MySQL "--5" is a number with two signs. In SQLite a comment needs no blank after the dashes.
      if (third !== undefined && third >= '.' && third <= '9') return at
    }
    const end = text.indexOf('\n', at)
    if (end < 0) return isEnd ? text.length : INCOMPLETE
    at = end + 1
  }
}

export interface SqlLiteral {
  value: string | null
  end: number
}

/** Reads a literal: text, number, hex, NULL, or an expression as written. @returns null if the text ends first */
export function readSqlLiteral(text: string, start: number, depth = 0): SqlLiteral | null {
  const first = text[start] as string
  if (first === "'" || first === '"' || first === '`') return readQuoted(text, start)
  const end = findBareEnd(text, start)
  if (end < 0) return null
  const bare = text.slice(start, end)
  const after = text[end]
  if (after === "'" || after === '"') return readPrefixed(bare, text, end)
  if (after === undefined) return null
  if (/^null$/i.test(bare)) return { value: null, end }
  if (/^0x[0-9a-f]*$/i.test(bare)) return { value: decodeHex(bare.slice(2)), end }
  if (after === '(') return readCall(text, start, end, depth)
  if (bare === '_binary' || /^_\w+$/.test(bare)) return readIntroduced(text, end)
  return { value: bare, end: Math.max(end, start + 1) }
}

/** `_binary'…'`, `_utf8mb4'…'`, `x'41'`, `N'…'`. */
function readPrefixed(prefix: string, text: string, at: number): SqlLiteral | null {
  const quoted = readQuoted(text, at)
  if (quoted === null || !/^x$/i.test(prefix)) return quoted
  return { value: decodeHex(quoted.value ?? ''), end: quoted.end }
}

/** `_binary '…'` and `_binary 0x…`. */
function readIntroduced(text: string, at: number): SqlLiteral | null {
  const start = skipSqlBlanks(text, at, false)
  if (start === INCOMPLETE || start >= text.length) return null
  return readSqlLiteral(text, start)
}

/** Reads an expression such as `NOW()` as written, or a text that SQLite writes as a call. */
function readCall(text: string, start: number, open: number, nesting: number): SqlLiteral | null {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const char = text[at]
    if (char === "'" || char === '"') {
      const quoted = readQuoted(text, at)
      if (quoted === null) return null
      at = quoted.end - 1
    } else if (char === '(') depth++
    else if (char === ')' && --depth === 0) {
      const called = evaluateCall(text.slice(start, open), text.slice(open + 1, at), nesting)
      return { value: called ?? text.slice(start, at + 1), end: at + 1 }
    }
  }
  return null
}

/** SQLite nests two calls: one for each line end character. */
const NESTING_MAX = 3

/** Evaluates `replace('a\nb','\n',char(10))` and `unistr('a\u000ab')`, SQLite's forms of a text of several lines. */
function evaluateCall(name: string, list: string, nesting: number): string | null {
  const isKnown = /^(?:replace|unistr|char)$/i.test(name)
  if (!isKnown || nesting >= NESTING_MAX) return null
  const values: string[] = []
  // The comma ends the last argument.
  const text = `${list},`
  for (let at = 0; at < text.length; at++) {
    const value = readSqlLiteral(text, skipSqlBlanks(text, at, true), nesting + 1)
    if (value?.value == null || values.length === 3) return null
    values.push(value.value)
    at = skipSqlBlanks(text, value.end, true)
    if (text[at] !== ',') return null
  }
  const [first = '', from, to] = values
  switch (name.toLowerCase()) {
    case 'replace':
      return from === undefined || to === undefined ? null : first.replaceAll(from, () => to)
    case 'char':
      return values.every((code) => /^\d{1,3}$/.test(code))
        ? String.fromCharCode(...values.map(Number))
        : null
    default:
      return first.replace(UNISTR, decodeUnistr)
  }
}

/** https://sqlite.org/lang_corefunc.html#unistr */
const UNISTR = /\\(?:\\|\+([\da-fA-F]{6})|u?([\da-fA-F]{4})|U([\da-fA-F]{8}))/g

function decodeUnistr(whole: string, long?: string, short?: string, full?: string): string {
  const digits = long ?? short ?? full
  if (digits === undefined) return '\\'
  const code = Number.parseInt(digits, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

const BARE_END = /[\s,()'";]/g

function findBareEnd(text: string, start: number): number {
  BARE_END.lastIndex = start
  const found = BARE_END.exec(text)
  return found ? found.index : -1
}

/** MySQL's escapes (https://dev.mysql.com/doc/refman/8.4/en/string-literals.html). Any other letter is itself. */
const ESCAPES: Record<string, string> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\x1a',
  // In patterns the backslash stays.
  '%': '\\%',
  _: '\\_',
}

function readQuoted(text: string, start: number): SqlLiteral | null {
  const quote = text[start] as string
  const close = findClose(text, start + 1, quote)
  // A second quote may follow in the next piece.
  if (close < 0 || close + 1 >= text.length) return null
  return { value: decodeEscapes(text.slice(start + 1, close), quote), end: close + 1 }
}

/** @returns the closing quote, which is neither escaped nor doubled; -1 if it is not in this text */
function findClose(text: string, from: number, quote: string): number {
  const hasBackslash = (start: number, end: number) => quote !== '`' && text.slice(start, end).includes('\\')
  let close = text.indexOf(quote, from)
  // Searching the whole text for a backslash would take the time of the whole text for each value.
  let backslash = close >= 0 && hasBackslash(from, close) ? text.indexOf('\\', from) : -1
  while (close >= 0) {
    let next: number
    if (backslash >= 0 && backslash < close) {
      next = backslash + 2
      backslash = text.indexOf('\\', next)
      if (close >= next) continue
    } else if (text[close + 1] === quote) next = close + 2
    else return close
    close = text.indexOf(quote, next)
    if (backslash < next && close >= 0 && hasBackslash(next, close)) backslash = text.indexOf('\\', next)
  }
  return -1
}

function decodeEscapes(text: string, quote: string): string {
  const hasBackslash = quote !== '`' && text.includes('\\')
  if (!hasBackslash) return text.includes(quote) ? text.replaceAll(quote + quote, quote) : text
  return text.replace(
    /\\([\s\S])|(''|"")/g,
    (whole, escaped: string | undefined, doubled: string | undefined) => {
      if (escaped !== undefined) return ESCAPES[escaped] ?? escaped
      return doubled === quote + quote ? quote : whole
    },
  )
}

function decodeHex(digits: string): string {
  const bytes = Buffer.from(digits, 'hex')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return `0x${digits}`
  }
}

export interface SqlName {
  at: number
  /** The words before the name, in capitals. */
  words: string[]
  /** The table's name, without its database. */
  name: string | null
}

const WORD =
  /^(?:INSERT|REPLACE|OR|LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE|INTO|CREATE|TABLE|IF|NOT|EXISTS)\b/i

/** `INSERT IGNORE INTO `db`.`name``. */
export function readSqlName(text: string, start: number, isEnd: boolean): SqlName {
  const words: string[] = []
  let at = start
  for (;;) {
    at = skipSqlBlanks(text, at, isEnd)
    if (at === INCOMPLETE || (at + 16 > text.length && !isEnd)) return { at: INCOMPLETE, words, name: null }
    const word = WORD.exec(text.slice(at, at + 16))
    if (!word) break
    words.push(word[0].toUpperCase())
    at += word[0].length
  }
  let name: string | null = null
  for (;;) {
    const part = /^(?:`((?:[^`]|``){1,64})`|"([^"]{1,64})"|\[([^\]]{1,64})\]|([\w$]{1,64}))/.exec(
      text.slice(at, at + 140),
    )
    if (!part) return { at, words, name: null }
    name = (part[1] ?? part[2] ?? part[3] ?? (part[4] as string)).replaceAll('``', '`')
    at += part[0].length
    if (at >= text.length) return { at: INCOMPLETE, words, name }
    if (text[at] !== '.') return { at, words, name }
    at++
  }
}

const OUTSIDE = /['"`;#]|--(?![.\d])|\/\*/g

/**
 * Finds the end of a statement without storing the statement.
 * @param inside the current context: a quote, `#` for a comment to the end of the line, `*` for a block comment, '' for none
 */
export function findSqlEnd(
  text: string,
  start: number,
  inside: string,
  isEnd: boolean,
): { end: number; inside: string; isDone: boolean } {
  let at = start
  let within = inside
  for (;;) {
    if (within === '') {
      OUTSIDE.lastIndex = at
      const found = OUTSIDE.exec(text)
      // A token of two characters can begin at the end of this piece.
      if (!found)
        return { end: isEnd ? text.length : Math.max(at, text.length - 2), inside: '', isDone: false }
      at = found.index + found[0].length
      if (found[0] === ';') return { end: at, inside: '', isDone: true }
      within = found[0] === '--' ? '#' : found[0] === '/*' ? '*' : found[0]
      continue
    }
    const end = findInsideEnd(text, at, within)
    if (end < 0) {
      // Keep a character that can be the first half of an escape or of a comment's end.
      const kept = text.endsWith('\\') || text.endsWith('*') ? countTail(text, at) : 0
      return { end: text.length - kept, inside: within, isDone: false }
    }
    at = end
    within = ''
  }
}

function findInsideEnd(text: string, at: number, within: string): number {
  if (within === '#' || within === '*') {
    const mark = within === '#' ? '\n' : '*/'
    const end = text.indexOf(mark, at)
    return end < 0 ? -1 : end + mark.length
  }
  const close = findClose(text, at, within)
  return close < 0 ? -1 : close + 1
}

/** Returns 1 if the text ends with half an escape, or with the first half of a comment's end. */
function countTail(text: string, from: number): number {
  if (text.endsWith('*')) return 1
  let backslashes = 0
  while (text.length - backslashes > from && text[text.length - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2
}
