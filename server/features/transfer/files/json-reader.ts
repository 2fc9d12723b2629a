// Streaming reader for lists of JSON objects: a top-level list, lists under a key, NDJSON, or concatenated pages. It parses
// one record at a time, so a file of gigabytes needs only the memory of one record.

import type { RecordReader } from './csv-reader.ts'
import { FileProblem, type FileRecord } from './source-file.ts'

/** A longer value is not a record. If it can be an object around a list, the reader descends into it. */
const VALUE_CHARS_MAX = 1024 * 1024
const DEPTH_MAX = 64
/** Maximum nesting depth of a list of records. */
const AROUND_MAX = 4

interface Level {
  kind: 'list' | 'object'
  /** The value is under a key that the source names: if it is a list, its elements are records. */
  isNamed: boolean
  /** The next expected token. */
  expects: 'value' | 'key' | 'colon' | 'comma'
  /** The last token was a comma: a closing bracket is an error now. */
  afterComma: boolean
  key: string | null
}

const BLANK = /[^ \t\r\n]/g
/** Some tools write a list as an object with numbered keys: `{"link_1": {…}, "link_2": {…}}`. */
const NUMBERED = /^[a-z]+_\d+$/

export class JsonReader implements RecordReader {
  readonly records: FileRecord[] = []
  row = 1
  #text = ''
  #pieces: string[] = []
  #waiting = 0
  #hasValue = false
  readonly #levels: Level[] = []
  readonly #isList: ((key: string) => boolean) | null

  /** @param isList true for keys with records; null to inspect an unknown file: then objects with lists are records */
  constructor(isList: ((key: string) => boolean) | null) {
    this.#isList = isList
  }

  write(text: string): void {
    this.#pieces.push(text)
    this.#waiting += text.length
    if (this.#waiting >= this.#text.length) this.#parse(false)
  }

  settle(): void {
    this.#parse(false)
  }

  end(): void {
    this.#parse(true)
    if (this.#levels.length > 0 || this.#text !== '') throw this.#endsEarly()
    if (!this.#hasValue) throw new FileProblem('The file has no JSON in it.')
  }

  #endsEarly(): FileProblem {
    return new FileProblem(`The file ends in the middle of record ${this.row}. Is it complete?`)
  }

  #broken(text: string, at: number): FileProblem {
    const near = JSON.stringify(text.slice(at, at + 20))
    return new FileProblem(`The JSON is broken at record ${this.row}, near ${near}. Export the file again.`)
  }

  #parse(isEnd: boolean): void {
    const text = this.#text + this.#pieces.join('')
    this.#pieces = []
    this.#waiting = 0
    let at = 0
    for (;;) {
      const start = skipBlanks(text, at)
      if (start === text.length) {
        at = start
        break
      }
      const next = this.#step(text, start, isEnd)
      if (next < 0) {
        at = start
        break
      }
      at = next
    }
    this.#text = text.slice(at)
  }

  /** Reads one token or one whole value. @returns its end; -1 if the text ends first */
  #step(text: string, at: number, isEnd: boolean): number {
    const level = this.#levels.at(-1)
    if (!level) return this.#readValue(text, at, isEnd, null)
    const char = text[at] as string
    if (level.expects === 'comma') {
      if (char === ',') {
        level.expects = level.kind === 'list' ? 'value' : 'key'
        level.afterComma = true
        return at + 1
      }
      return this.#close(level, text, at)
    }
    if (level.expects === 'colon') {
      if (char !== ':') throw this.#broken(text, at)
      level.expects = 'value'
      return at + 1
    }
    const closes = char === ']' || char === '}'
    if (closes && !level.afterComma && (level.kind === 'list' || level.expects === 'key'))
      return this.#close(level, text, at)
    level.afterComma = false
    if (level.expects === 'value') return this.#readValue(text, at, isEnd, level)
    return this.#readKey(level, text, at, isEnd)
  }

  #readKey(level: Level, text: string, at: number, isEnd: boolean): number {
    if (text[at] !== '"') throw this.#broken(text, at)
    const end = this.#findEnd(text, at, isEnd)
    if (end < 0) return this.#requireRoom(text, at)
    level.key = this.#parseValue(text, at, end) as string
    level.expects = 'colon'
    return end
  }

  #close(level: Level, text: string, at: number): number {
    if (text[at] !== (level.kind === 'list' ? ']' : '}')) throw this.#broken(text, at)
    this.#levels.pop()
    const outer = this.#levels.at(-1)
    if (outer) outer.expects = 'comma'
    return at + 1
  }

  #readValue(text: string, at: number, isEnd: boolean, level: Level | null): number {
    const isTopList = level === null && text[at] === '['
    const isNamedList = level?.kind === 'object' && text[at] === '[' && this.#hasName(level.key)
    if (isTopList || isNamedList) return this.#enter(text, at, isNamedList)
    const end = this.#findEnd(text, at, isEnd)
    if (end < 0) {
      if (text.length - at <= VALUE_CHARS_MAX) return -1
      const isRecord = level?.kind === 'list' && level.isNamed
      if (text[at] === '{' && !isRecord) return this.#enter(text, at, this.#hasName(level?.key ?? null))
      return this.#requireRoom(text, at)
    }
    const value = this.#parseValue(text, at, end)
    this.#hasValue = true
    if (level?.kind !== 'object') this.#addRecord(value, level)
    else if (level.isNamed && NUMBERED.test(level.key ?? '')) this.#push(value)
    else this.#addListsIn(value, AROUND_MAX - this.#levels.length)
    if (level) level.expects = 'comma'
    return end
  }

  #hasName(key: string | null): boolean {
    return this.#isList === null || this.#isList(key ?? '')
  }

  #requireRoom(text: string, at: number): number {
    if (text.length - at <= VALUE_CHARS_MAX) return -1
    throw new FileProblem(`Record ${this.row} is longer than 1 MiB. Is this a list of links?`)
  }

  #enter(text: string, at: number, isNamed: boolean): number {
    if (this.#levels.length >= AROUND_MAX)
      throw new FileProblem(`The list of record ${this.row} is too deep in the file.`)
    this.#hasValue = true
    const isList = text[at] === '['
    const key = this.#levels.at(-1)?.key ?? null
    this.#levels.push({
      kind: isList ? 'list' : 'object',
      isNamed,
      expects: isList ? 'value' : 'key',
      afterComma: false,
      key,
    })
    return at + 1
  }

  #findEnd(text: string, at: number, isEnd: boolean): number {
    const end = findValueEnd(text, at, isEnd)
    if (end === TOO_DEEP)
      throw new FileProblem(`Record ${this.row} is nested deeper than ${DEPTH_MAX} levels.`)
    return end
  }

  #parseValue(text: string, at: number, end: number): unknown {
    try {
      return JSON.parse(text.slice(at, end))
    } catch {
      throw this.#broken(text, at)
    }
  }

  /** Adds an element of a list, or a value at the top: a record, or a page with a list of records. */
  #addRecord(value: unknown, level: Level | null): void {
    if (!level?.isNamed && this.#addListsIn(value, AROUND_MAX)) return
    this.#push(value)
  }

  #push(value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new FileProblem(`Record ${this.row} is no JSON object.`)
    this.records.push({ row: this.row, table: null, fields: toFields(value) })
    this.row++
  }

  /** @returns true if the object has a list that the source names */
  #addListsIn(value: unknown, depth: number): boolean {
    if (
      this.#isList === null ||
      depth === 0 ||
      typeof value !== 'object' ||
      value === null ||
      Array.isArray(value)
    )
      return false
    let found = false
    for (const [key, inner] of Object.entries(value)) {
      const elements = this.#isList(key) ? toElements(inner) : null
      if (elements) {
        found = true
        for (const element of elements) this.#push(element)
      } else if (this.#addListsIn(inner, depth - 1)) found = true
    }
    return found
  }
}

/** Avoids `Object.entries`, which allocates an array per field. */
function toFields(value: object): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const key of Object.keys(value)) fields.set(key, (value as Record<string, unknown>)[key])
  return fields
}

/** @returns null for a value that is not a list */
export function toElements(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return null
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => NUMBERED.test(key)) ? Object.values(value) : null
}

function skipBlanks(text: string, at: number): number {
  BLANK.lastIndex = at
  const found = BLANK.exec(text)
  return found ? found.index : text.length
}

const TOO_DEEP = -2

/** @returns the end of the value; -1 if the text ends first; TOO_DEEP */
function findValueEnd(text: string, start: number, isEnd: boolean): number {
  const first = text.charCodeAt(start)
  if (first === 0x22) return findStringEnd(text, start)
  if (first !== 0x7b && first !== 0x5b) {
    for (let at = start; at < text.length; at++)
      if (' \t\r\n,]}'.includes(text[at] as string)) return Math.max(at, start + 1)
    return isEnd ? text.length : -1
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      const end = findStringEnd(text, at)
      if (end < 0) return -1
      at = end - 1
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEPTH_MAX) return TOO_DEEP
    } else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at + 1
  }
  return -1
}

function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === 0x5c) before--
    if ((end - before) % 2 === 0) return end + 1
  }
  return -1
}
