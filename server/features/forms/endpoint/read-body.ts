// Reads a request body into its names and values, from any of the three content types of docs/contract.md §7.

import { BODY_MAX, readBytes } from '../../../http/json-body.ts'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { decodePercents, decodeStrictly, findEncoding, parseCharset } from '../../../lib/formats/charset.ts'
import { type JsonLimits, scanJson } from '../../../lib/formats/json-limits.ts'
import { noteResumed } from '../../../lib/telemetry/request-context.ts'
import { findBodyCharset, isCharsetField, readText } from './body-charset.ts'
import type { BodyEntry } from './body-entry.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'
import { findPartsCharset, readParts, toEntries } from './multipart.ts'

// 256 fields may each be a group of many checkboxes. A body with more entries is an attack.
export const ENTRIES_MAX = 10_000

/** Nesting deeper than a list in a field is refused anyway: up to this depth the answer names the field. */
const JSON_LIMITS: JsonLimits = { depth: 32, values: ENTRIES_MAX, entries: ENTRIES_MAX }

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART_TYPE = /^\s*multipart\/form-data\s*(?:;|$)/i
const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export const isJson = (contentType: string | null) => JSON_TYPE.test(contentType ?? '')

export interface FormBody {
  entries: BodyEntry[]
  /** Bytes. */
  size: number
}

export const isMultipart = (headers: Pick<Headers, 'get'>) =>
  MULTIPART_TYPE.test(headers.get('content-type') ?? '')

/** @throws EndpointError 415 */
export function requireKnownType(headers: Pick<Headers, 'get'>): void {
  const type = headers.get('content-type') ?? ''
  const json = isJson(type)
  const known = json || FORM_TYPE.test(type) || MULTIPART_TYPE.test(type)
  // A compressed body is refused: its bytes would be read as text and stored as nonsense.
  const uncompressed = /^\s*(?:identity\s*)?$/i.test(headers.get('content-encoding') ?? '')
  if (!known || !uncompressed) throw new EndpointError(415, 'Unsupported content type')
}

/** @param sent a body that has come already, or the request that brings it. @throws EndpointError 400, 413 or 415 */
export async function readBody(sent: Uint8Array | Request, headers: Pick<Headers, 'get'>): Promise<FormBody> {
  requireKnownType(headers)
  const bytes = sent instanceof Request ? await readBytesUpToLimit(sent, headers) : sent
  const type = headers.get('content-type') ?? ''
  const entries = FORM_TYPE.test(type) ? readForm(bytes, type) : await readEntries(bytes, type)
  return { entries, size: bytes.length }
}

async function readEntries(bytes: Uint8Array, type: string): Promise<BodyEntry[]> {
  if (isJson(type)) return collect(readJson(bytes, type))
  const parts = await collect(readParts(bytes, type))
  return collect(toEntries(parts, findPartsCharset(parts, type)))
}

/** Reads one item after the other, and lets redirects run in between. @throws EndpointError 413 */
async function collect<Item>(source: Generator<Item>): Promise<Item[]> {
  const pace = createPacer()
  const items: Item[] = []
  for (const item of source) {
    if (items.push(item) > ENTRIES_MAX) throw tooLarge()
    const pause = pace()
    if (pause) await pause
  }
  return items
}

async function readBytesUpToLimit(request: Request, headers: Pick<Headers, 'get'>): Promise<Uint8Array> {
  const length = headers.get('content-length')
  let bytes: Uint8Array | undefined
  try {
    // Read in one call where Content-Length is within the limit. Otherwise count the bytes while they arrive.
    const fits = length !== null && /^\d+$/.test(length) && Number(length) <= BODY_MAX
    bytes = fits ? await request.bytes() : await readBytes(request, BODY_MAX)
    noteResumed()
  } catch {
    // The sender closed the connection in the middle of the body. That is no fault of the server, so it is no 500.
    throw new EndpointError(400, 'The body is cut off')
  }
  if (!bytes || bytes.length > BODY_MAX) throw tooLarge()
  return bytes
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function readForm(bytes: Uint8Array, type: string): BodyEntry[] {
  const text = decoder.decode(bytes)
  let pairs = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) pairs++
  if (pairs > ENTRIES_MAX) throw tooLarge()
  let isUtf8 = !type.includes(';') || findEncoding(parseCharset(type)) === 'utf-8'
  // URLSearchParams removes one `?` at the start. The extra `?` keeps one that belongs to the first name.
  const entries = Array.from(new URLSearchParams(`?${text}`), ([name, value]) => {
    if (value.includes('\ufffd') || name.includes('\ufffd') || isCharsetField(name)) isUtf8 = false
    return { name, value }
  })
  return isUtf8 ? entries : readEncodedForm(bytes, type)
}

const [AMPERSAND, EQUALS] = [0x26, 0x3d]

/** Reads the bytes of a form whose charset may be another than UTF-8: https://url.spec.whatwg.org/#urlencoded-parsing */
function readEncodedForm(bytes: Uint8Array, type: string): BodyEntry[] {
  const pairs: { name: Buffer; value: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = bytes.indexOf(AMPERSAND, at)
    const pair = bytes.subarray(at, next < 0 ? bytes.length : next)
    const equals = pair.indexOf(EQUALS)
    const name = decodePercents(equals < 0 ? pair : pair.subarray(0, equals), { plus: true })
    const value = decodePercents(pair.subarray(equals < 0 ? pair.length : equals + 1), { plus: true })
    if (pair.length > 0) pairs.push({ name, value })
    at += pair.length + 1
  }
  const sent = pairs.find(({ name }) => isCharsetField(name.toString('latin1')))
  const texts = pairs.flatMap(({ name, value }) => [name, value])
  const charset = findBodyCharset(type, sent?.value.toString('latin1'), texts)
  return pairs.map(({ name, value }) => ({ name: readText(name, charset), value: readText(value, charset) }))
}

function* readJson(bytes: Uint8Array, type: string): Generator<BodyEntry> {
  const charset = findEncoding(parseCharset(type)) ?? 'utf-8'
  const text = decodeStrictly(bytes, charset)?.replace(/^\ufeff/, '')
  if (text === undefined) throw new EndpointError(400, 'Invalid JSON')
  const { excess } = scanJson(text, JSON_LIMITS)
  if (excess === 'depth') throw new EndpointError(400, 'Invalid JSON')
  if (excess) throw tooLarge()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new EndpointError(400, 'Invalid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new EndpointError(400, 'Invalid JSON')
  for (const { name, json } of readJsonMembers(text)) yield* readMember(name, json)
}

interface JsonMember {
  name: string
  /** The value as JSON text, unchanged. */
  json: string
}

/**
 * Reads the members of a JSON object as they were sent. JSON.parse cannot: its object puts names that are numbers
 * first, keeps only one of two equal names, and rounds long numbers.
 * @param text a JSON object that JSON.parse accepts
 */
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

/** The member `fields` of a JSON object that JSON.parse accepts, as a posted body of these fields. */
export const readJsonFields = (text: string): Promise<BodyEntry[]> => collect(readFieldsMember(text))

function* readFieldsMember(text: string): Generator<BodyEntry> {
  // Like JSON.parse: the last of equal names counts.
  const fields = [...readJsonMembers(text)].findLast(({ name }) => name === 'fields')
  for (const { name, json } of fields ? readJsonMembers(fields.json) : []) yield* readMember(name, json)
}

function readMember(name: string, json: string): BodyEntry[] {
  const first = json[0]
  if (first === '{') return [{ name, nested: true }]
  if (first !== '[') return [{ name, value: toScalarText(json) }]
  const inner: unknown[] = JSON.parse(json)
  if (inner.some((value) => typeof value === 'object' && value !== null)) return [{ name, nested: true }]
  if (inner.length === 0) return [{ name, value: '' }]
  // Take each number as its source text, because parsing rounds an id of twenty digits to another number.
  const texts = JSON.parse(json, (_, value, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? context.source : value,
  ) as unknown[]
  return texts.map((text) => ({ name, value: text === null ? '' : String(text) }))
}

/** `null` becomes an empty text; a number or boolean becomes its JSON text. */
function toScalarText(json: string): string {
  if (json[0] === '"') return JSON.parse(json)
  return json === 'null' ? '' : json
}
