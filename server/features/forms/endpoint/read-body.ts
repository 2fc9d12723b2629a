// A request's body as the names and values that were sent, whichever of the three content types it has.

import { BODY_MAX, readBytes } from '../../../http/json-body.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'
import { readJsonMembers } from './json-members.ts'
import { readMultipart } from './multipart.ts'

/** One value under the name it was sent with, in the order of sending. */
export type BodyEntry = { name: string } & (
  | { value: string }
  | { file: 'none' | 'chosen' }
  | { nested: true }
)

// 256 fields may each be a group of many checkboxes; beyond this somebody only wants to be expensive.
const ENTRIES_MAX = 10_000

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART_TYPE = /^\s*multipart\/form-data\s*(?:;|$)/i
const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export const isJson = (contentType: string | null) => JSON_TYPE.test(contentType ?? '')

/** @throws Refusal 400, 413 or 415 */
export async function readBody(request: Request, headers: Headers): Promise<BodyEntry[]> {
  const type = headers.get('content-type') ?? ''
  const json = isJson(type)
  const known = json || FORM_TYPE.test(type) || MULTIPART_TYPE.test(type)
  // Compressed bytes read as a form would be a submission of nonsense.
  const plain = /^\s*(?:identity\s*)?$/i.test(headers.get('content-encoding') ?? '')
  if (!known || !plain) throw new EndpointError(415, 'Unsupported content type')
  const bytes = await readWhole(request, headers)
  if (json) return readJson(bytes)
  return FORM_TYPE.test(type) ? readForm(bytes) : readMultipart(bytes, type, ENTRIES_MAX)
}

async function readWhole(request: Request, headers: Headers): Promise<Uint8Array> {
  const length = headers.get('content-length')
  let bytes: Uint8Array | undefined
  try {
    // At once where the size is known beforehand; else counted as it comes.
    const bounded = length !== null && /^\d+$/.test(length) && Number(length) <= BODY_MAX
    bytes = bounded ? await request.bytes() : await readBytes(request, BODY_MAX)
  } catch {
    // The sender has gone in the middle of it: hardly anybody reads this answer, and nothing is wrong here.
    throw new EndpointError(400, 'The body is cut off')
  }
  if (!bytes || bytes.length > BODY_MAX) throw tooLarge()
  return bytes
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function readForm(bytes: Uint8Array): BodyEntry[] {
  const text = decoder.decode(bytes)
  let pairs = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) pairs++
  if (pairs > ENTRIES_MAX) throw tooLarge()
  // A question mark at the beginning would be taken off: it gets one that may be.
  return Array.from(new URLSearchParams(`?${text}`), ([name, value]) => ({ name, value }))
}

function readJson(bytes: Uint8Array): BodyEntry[] {
  let text: string
  let body: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    body = JSON.parse(text)
  } catch {
    throw new EndpointError(400, 'Invalid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new EndpointError(400, 'Invalid JSON')
  const entries: BodyEntry[] = []
  for (const { name, json } of readJsonMembers(text)) {
    entries.push(...readMember(name, json))
    if (entries.length > ENTRIES_MAX) throw tooLarge()
  }
  return entries
}

function readMember(name: string, json: string): BodyEntry[] {
  const first = json[0]
  if (first === '{') return [{ name, nested: true }]
  if (first !== '[') return [{ name, value: scalarText(json) }]
  const inner: unknown[] = JSON.parse(json)
  if (inner.some((one) => typeof one === 'object' && one !== null)) return [{ name, nested: true }]
  if (inner.length === 0) return [{ name, value: '' }]
  // Numbers by their own text: an id of twenty digits would be another one otherwise.
  const texts = JSON.parse(json, (_, value, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? context.source : value,
  ) as unknown[]
  return texts.map((one) => ({ name, value: one === null ? '' : String(one) }))
}

/** `null` is nothing; numbers and booleans are the text they stand there as. */
function scalarText(json: string): string {
  if (json[0] === '"') return JSON.parse(json)
  return json === 'null' ? '' : json
}
