// Reads a multipart/form-data body as browsers write it: RFC 7578, with names escaped as in
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data. The runtime's own parser
// is not used, because it silently drops parts that it cannot read, and keeps the name `a"b` as `a%22b`.

import type { BodyEntry } from './body-entry.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'

// A name of 256 characters takes up to 2,304 bytes, and the header may also have a file name.
const HEADERS_MAX = 8 * 1024

const CRLF = '\r\n'
const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, DASH] = [0x0a, 0x0d, 0x20, 0x09, 0x2d]

/** @throws EndpointError 400 with a message that names the mistake */
export function* readMultipart(bytes: Uint8Array, contentType: string): Generator<BodyEntry> {
  const boundary = parseBoundary(contentType)
  if (boundary === undefined) {
    throw new EndpointError(
      400,
      'Content-Type has no boundary: let the browser or the HTTP client write this header',
    )
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const part of splitParts(body, boundary)) yield readPart(part)
}

function parseBoundary(contentType: string): string | undefined {
  const match = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

/** Yields each part between two delimiters: headers, an empty line, the content. */
function* splitParts(body: Buffer, boundary: string): Generator<Buffer> {
  const opening = `--${boundary}`
  const first = body.subarray(0, opening.length).equals(Buffer.from(opening)) ? 0 : -1
  let line = first === 0 ? readDelimiter(body, opening.length) : undefined
  line ??= findDelimiter(body, opening, 0)
  if (!line) {
    throw new EndpointError(
      400,
      'The body has no line with the boundary that Content-Type names, or it is cut off',
    )
  }
  while (!line.last) {
    // Search from the line end of this delimiter, to find a part without headers or content too.
    const next = findDelimiter(body, opening, line.end - CRLF.length)
    if (!next) throw new EndpointError(400, 'The multipart body is cut off: its last boundary is missing')
    yield body.subarray(line.end, Math.max(line.end, next.start))
    line = next
  }
}

interface Delimiter {
  /** The index of the line end before the delimiter. */
  start: number
  /** The index after the delimiter's own line end. */
  end: number
  /** It closes the body. */
  last: boolean
}

function findDelimiter(body: Buffer, opening: string, from: number): Delimiter | undefined {
  const lineStart = Buffer.from(CRLF + opening)
  for (let at = body.indexOf(lineStart, from); at >= 0; at = body.indexOf(lineStart, at + 1)) {
    const delimiter = readDelimiter(body, at + lineStart.length)
    if (delimiter) return { ...delimiter, start: at }
  }
  return undefined
}

/** A boundary is a delimiter where `--`, or blanks and a line end, follow it. Otherwise it is content. */
function readDelimiter(body: Buffer, after: number): Delimiter | undefined {
  if (body[after] === DASH && body[after + 1] === DASH) return { start: 0, end: after + 2, last: true }
  let end = after
  while (body[end] === SPACE || body[end] === TAB) end++
  const atLineEnd = body[end] === CARRIAGE_RETURN && body[end + 1] === LINE_FEED
  return atLineEnd ? { start: 0, end: end + 2, last: false } : undefined
}

function readPart(part: Buffer): BodyEntry {
  const headersEnd = part.indexOf(CRLF + CRLF)
  if (headersEnd > HEADERS_MAX) throw tooLarge()
  const headers = headersEnd < 0 ? '' : part.toString('utf8', 0, headersEnd)
  const disposition = findDisposition(headers)
  const parameters = disposition === undefined ? undefined : readParameters(disposition)
  const name = parameters?.get('name')
  if (name === undefined) {
    throw new EndpointError(
      400,
      'A part of the multipart body has no Content-Disposition: form-data with a name',
    )
  }
  const contentStart = headersEnd + 2 * CRLF.length
  const fileName = parameters?.get('filename') ?? parameters?.get('filename*')
  if (fileName === undefined) return { name, value: part.toString('utf8', contentStart) }
  // A browser sends an empty file without a name for a file input where nothing was chosen.
  return { name, file: fileName === '' && part.length <= contentStart ? 'none' : 'chosen' }
}

/** @returns the parameters of the first Content-Disposition, with the semicolon before them */
function findDisposition(headers: string): string | undefined {
  for (const line of headers.split(CRLF)) {
    const match = /^content-disposition\s*:\s*form-data\s*(?=;)/i.exec(line)
    if (match) return line.slice(match[0].length)
  }
  return undefined
}

// A quote ends the value only before a semicolon or the end, because older clients write `\"` for a quote inside a
// value (browsers write `%22`). The `s` flag lets a name contain U+2028, which is a line end to JavaScript.
const PARAMETER = /\s*;\s*(?:([\w*-]+)\s*=\s*(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))|$)/sy

/** @returns undefined where the header is malformed */
function readParameters(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = 0
  while (PARAMETER.lastIndex < text.trimEnd().length) {
    const match = PARAMETER.exec(text)
    if (!match) return undefined
    const [, key, quoted, plain] = match
    if (key !== undefined && !parameters.has(key.toLowerCase())) {
      parameters.set(key.toLowerCase(), quoted === undefined ? (plain ?? '') : unescapeName(quoted))
    }
  }
  return parameters
}

const ESCAPES: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"' }

const unescapeName = (text: string) =>
  text.replace(/%22|%0D|%0A|\\"/gi, (sequence) => ESCAPES[sequence.toUpperCase()] ?? sequence)
