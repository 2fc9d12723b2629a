// Reads the headers of a multipart part: its name, its file name and its charset, as browsers and programs write them.

import { decodePercents, decodeStrictly, findEncoding, parseCharset } from '../../../lib/formats/charset.ts'
import { type BodyCharset, readText } from './body-charset.ts'
import { EndpointError } from './endpoint-error.ts'

/** A part with a `fileName` is a file; a browser names it '' where nothing was chosen. */
export interface PartHead {
  name: string
  fileName: string | undefined
  /** The encoding that the part names. */
  encoding: string | undefined
  /** The headers, one character for each byte. */
  raw: string
}

/** Values have one character for each byte. */
type Parameters = Map<string, string>

const UNKNOWN: BodyCharset = { encoding: undefined, isLegacy: false }

export const withoutName = () =>
  new EndpointError(400, 'A part of the multipart body has no Content-Disposition: form-data with a name')

/** @param raw the headers, one character for each byte. @throws EndpointError 400 */
export function readPartHead(raw: string, charset = UNKNOWN): PartHead {
  // Libraries for mail fold a long header (RFC 5322 §2.2.3).
  const lines = raw.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const disposition = findHeader(lines, /^content-disposition[ \t]*:[ \t]*form-data[ \t]*(?=;)/i)
  const parameters = disposition === undefined ? undefined : readParameters(disposition)
  const name = parameters && readValue(parameters, 'name', charset)
  if (name === undefined) throw withoutName()
  const type = findHeader(lines, /^content-type[ \t]*:/i)
  const encoding = findEncoding(parseCharset(type ?? null))
  return { name, fileName: parameters && readFileName(parameters, charset), encoding, raw }
}

/** @returns the rest of the first line that begins so */
function findHeader(lines: string[], start: RegExp): string | undefined {
  for (const line of lines) {
    const match = start.exec(line)
    if (match) return line.slice(match[0].length)
  }
  return undefined
}

// A quote ends the value only before a semicolon or the end, because older clients write `\"` for a quote inside a
// value (browsers write `%22`). `\s` is not used: it would take a byte of a character for a blank.
const PARAMETER = /[ \t]*;[ \t]*(?:([\w*-]+)[ \t]*=[ \t]*(?:"(.*?)"(?=[ \t]*(?:;|$))|([^;"]*))|$)/sy

/** @returns undefined where the header is malformed */
function readParameters(text: string): Parameters | undefined {
  const parameters: Parameters = new Map()
  const { length } = trimBlanks(text)
  PARAMETER.lastIndex = 0
  while (PARAMETER.lastIndex < length) {
    const match = PARAMETER.exec(text)
    if (!match) return undefined
    const [, key, quoted, plain] = match
    if (key !== undefined && !parameters.has(key.toLowerCase())) {
      parameters.set(
        key.toLowerCase(),
        quoted === undefined ? trimBlanks(plain ?? '') : unescapeValue(quoted),
      )
    }
  }
  return parameters
}

function trimBlanks(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end--
  return text.slice(0, end)
}

const ESCAPES: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"' }

const unescapeValue = (text: string) =>
  text.replace(/%22|%0D|%0A|\\"/gi, (sequence) => ESCAPES[sequence.toUpperCase()] ?? sequence)

const toBytes = (binary: string) => Buffer.from(binary, 'latin1')

/** The extended form wins, because clients send the other one for servers without support (RFC 6266 §4.3). */
function readValue(parameters: Parameters, key: string, charset: BodyCharset): string | undefined {
  const extended = readExtended(parameters, key)
  if (extended !== undefined) return extended
  const plain = parameters.get(key) ?? parameters.get(`${key}*`)
  if (plain === undefined) return undefined
  return readEncodedWords(readText(toBytes(plain), charset))
}

function readFileName(parameters: Parameters, charset: BodyCharset): string | undefined {
  const name = readValue(parameters, 'filename', charset)
  return name === undefined ? undefined : readPercents(name)
}

/** `UTF-8''na%C3%AFve.txt` (RFC 5987), also in several pieces: `filename*0*=UTF-8''na; filename*1=ve.txt` (RFC 2231). */
function readExtended(parameters: Parameters, key: string): string | undefined {
  const value = parameters.get(`${key}*`) ?? joinPieces(parameters, key)
  const [, label, encoded] = /^([^']*)'[^']*'(.*)$/s.exec(value ?? '') ?? []
  if (label === undefined || encoded === undefined) return undefined
  return decodeStrictly(decodePercents(toBytes(encoded), { plus: false }), findEncoding(label) ?? 'utf-8')
}

function joinPieces(parameters: Parameters, key: string): string | undefined {
  const pieces: string[] = []
  for (;;) {
    const encoded = parameters.get(`${key}*${pieces.length}*`)
    const plain = parameters.get(`${key}*${pieces.length}`)?.replaceAll('%', '%25')
    const piece = encoded ?? plain
    if (piece === undefined) break
    pieces.push(piece)
  }
  if (pieces.length === 0) return undefined
  return parameters.has(`${key}*0*`) ? pieces.join('') : `utf-8''${pieces.join('')}`
}

const WORD = /=\?([^?*\s]{1,40})(?:\*[^?\s]*)?\?([bq])\?([^?]*)\?=/gi
const WORDS = new RegExp(`${WORD.source}(?:[ \\t]*${WORD.source})*`, 'gi')

/** `=?utf-8?B?…?=` (RFC 2047), as .NET writes names beyond ASCII. */
const readEncodedWords = (text: string) =>
  text.includes('=?') ? text.replace(WORDS, (words) => decodeWords(words) ?? words) : text

/** @returns undefined for words that do not match the file */
function decodeWords(text: string): string | undefined {
  const words = [...text.matchAll(WORD)].map(([, label = '', kind, content = '']) => ({
    label,
    bytes: kind?.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : readQuoted(content),
  }))
  const label = words[0]?.label ?? ''
  // Programs cut a long name between the bytes of a character: words of one charset are decoded together.
  if (words.every((word) => word.label === label))
    return decodeStrictly(Buffer.concat(words.map(({ bytes }) => bytes)), label)
  const texts = words.map((word) => decodeStrictly(word.bytes, word.label))
  return texts.includes(undefined) ? undefined : texts.join('')
}

const readQuoted = (content: string) =>
  decodePercents(toBytes(content.replaceAll('_', ' ').replaceAll('%', '%25').replaceAll('=', '%')), {
    plus: false,
  })

/**
 * RFC 7578 §2 has clients write characters beyond ASCII as `%HH`. Browsers do not, and a file may be called `100%25.txt`:
 * a name is decoded where that gives such characters, and nothing else.
 */
function readPercents(name: string): string {
  if (!/%[89a-f]/i.test(name)) return name
  return decodeStrictly(decodePercents(Buffer.from(name), { plus: false }), 'utf-8') ?? name
}
