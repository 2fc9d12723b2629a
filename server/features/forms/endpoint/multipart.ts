// multipart/form-data as browsers write it (RFC 7578 and the WHATWG's words on names). A parser of our own, because
// the runtime's leaves out, in silence, parts that it cannot read, and keeps `a"b` as `a%22b`.

import { EndpointError, tooLarge } from './endpoint-error.ts'
import type { BodyEntry } from './read-body.ts'

// A name of 256 characters takes up to 2,304 bytes, and a file's name stands beside it.
const HEADERS_MAX = 8 * 1024

const CRLF = '\r\n'
const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, DASH] = [0x0a, 0x0d, 0x20, 0x09, 0x2d]
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** @throws Refusal 400 that names the mistake; 413 past `entriesMax` */
export function readMultipart(bytes: Uint8Array, contentType: string, entriesMax: number): BodyEntry[] {
  const boundary = parseBoundary(contentType)
  if (boundary === undefined) {
    throw new EndpointError(
      400,
      'Content-Type has no boundary: let the browser or the HTTP client write this header',
    )
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: BodyEntry[] = []
  for (const part of splitParts(body, boundary)) {
    const entry = readPart(part)
    if (entries.push(entry) > entriesMax) throw tooLarge()
  }
  return entries
}

function parseBoundary(contentType: string): string | undefined {
  const found = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  return found?.[1] ?? found?.[2]
}

/** What stands between two delimiters: headers, an empty line, the content. */
function* splitParts(body: Buffer, boundary: string): Generator<Buffer> {
  const opening = `--${boundary}`
  const first = body.subarray(0, opening.length).equals(Buffer.from(opening)) ? 0 : -1
  let line = first === 0 ? readDelimiter(body, opening.length) : undefined
  line ??= nextDelimiter(body, opening, 0)
  if (!line) {
    throw new EndpointError(
      400,
      'The body has no line with the boundary that Content-Type names, or it is cut off',
    )
  }
  while (!line.last) {
    // From its own line end, so that a part without headers or content is seen too.
    const next = nextDelimiter(body, opening, line.end - CRLF.length)
    if (!next) throw new EndpointError(400, 'The multipart body is cut off: its last boundary is missing')
    yield body.subarray(line.end, Math.max(line.end, next.start))
    line = next
  }
}

interface Delimiter {
  /** Where the line end before it begins, and where it ends with its own. */
  start: number
  end: number
  last: boolean
}

function nextDelimiter(body: Buffer, opening: string, from: number): Delimiter | undefined {
  const wanted = Buffer.from(CRLF + opening)
  for (let at = body.indexOf(wanted, from); at >= 0; at = body.indexOf(wanted, at + 1)) {
    const found = readDelimiter(body, at + wanted.length)
    if (found) return { ...found, start: at }
  }
  return undefined
}

/** What follows the boundary makes it a delimiter: `--`, or blanks and the end of the line. Else it is content. */
function readDelimiter(body: Buffer, after: number): Delimiter | undefined {
  if (body[after] === DASH && body[after + 1] === DASH) return { start: 0, end: after + 2, last: true }
  let end = after
  while (body[end] === SPACE || body[end] === TAB) end++
  const ends = body[end] === CARRIAGE_RETURN && body[end + 1] === LINE_FEED
  return ends ? { start: 0, end: end + 2, last: false } : undefined
}

function readPart(part: Buffer): BodyEntry {
  const headersEnd = part.indexOf(CRLF + CRLF)
  if (headersEnd > HEADERS_MAX) throw tooLarge()
  const headers = headersEnd < 0 ? '' : decoder.decode(part.subarray(0, headersEnd))
  const disposition = headers
    .split(CRLF)
    .map((line) => /^content-disposition\s*:\s*form-data\s*(?=;)/i.exec(line))
    .find((match) => match !== null)
  const parameters = disposition && readParameters(disposition.input.slice(disposition[0].length))
  const name = parameters?.get('name')
  if (name === undefined) {
    throw new EndpointError(
      400,
      'A part of the multipart body has no Content-Disposition: form-data with a name',
    )
  }
  const content = part.subarray(headersEnd + 2 * CRLF.length)
  const fileName = parameters?.get('filename') ?? parameters?.get('filename*')
  if (fileName === undefined) return { name, value: decoder.decode(content) }
  // What a browser sends for a file input where nothing was chosen.
  return { name, file: fileName === '' && content.length === 0 ? 'none' : 'chosen' }
}

// A quote ends the value where a semicolon or the end follows: older clients write `\"` inside, browsers `%22`. A name may
// hold what JavaScript takes for the end of a line (U+2028).
const PARAMETER = /\s*;\s*(?:([\w*-]+)\s*=\s*(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))|$)/sy

/** @returns undefined where the header is not well formed */
function readParameters(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = 0
  while (PARAMETER.lastIndex < text.trimEnd().length) {
    const found = PARAMETER.exec(text)
    if (!found) return undefined
    const [, key, quoted, plain] = found
    if (key !== undefined && !parameters.has(key.toLowerCase())) {
      parameters.set(key.toLowerCase(), quoted === undefined ? (plain ?? '') : unescapeName(quoted))
    }
  }
  return parameters
}

const ESCAPES: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"' }

const unescapeName = (text: string) =>
  text.replace(/%22|%0D|%0A|\\"/gi, (written) => ESCAPES[written.toUpperCase()] ?? written)
