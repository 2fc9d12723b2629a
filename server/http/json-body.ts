// Reads and checks the JSON body of a request once, for the handlers after it.

import type { Context, MiddlewareHandler } from 'hono'
import { nextTurn } from '../lib/concurrency/next-turn.ts'
import { Failure, invalid } from '../lib/failure.ts'
import { type JsonLimits, scanJson } from '../lib/formats/json-limits.ts'
import { noteResumed } from '../lib/telemetry/request-context.ts'
import type { BodyKind } from './route-facts.ts'

export const BODY_MAX = 1024 * 1024

/**
 * The largest valid body is a hundred links, each with 250 countries and 100 tags: 38,000 values, at most 250 in one
 * object.
 */
const LIMITS: JsonLimits = { depth: 32, values: 50_000, entries: 1_000 }

/** Checking, parsing and validating a longer body take some milliseconds each. */
const LONG_BODY = 64 * 1024

/** A file may be a part of the body: the list of a tool's links. */
const UPLOAD_LIMITS: JsonLimits = { depth: 32, values: 200_000, entries: 50_000 }

export const isMultipartForm = (contentType: string | undefined) =>
  /^multipart\/form-data(?:\s*;|$)/i.test(contentType ?? '')

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i

/** @returns the whole body, or undefined as soon as it is larger than `max` bytes */
export async function readBytes(request: Request, max: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > max) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  if (request.body) {
    for await (const chunk of request.body) {
      size += chunk.byteLength
      if (size > max) return undefined
      chunks.push(chunk)
    }
  }
  noteResumed()
  return Buffer.concat(chunks)
}

/**
 * POST, PUT and PATCH must have a JSON object as body, or the kind of body that `kindOf` returns.
 * @throws Failure `too_large`, `not_json`, `invalid_json`, `not_an_object`, `invalid`
 */
export function jsonBody(kindOf: (c: Context) => BodyKind): MiddlewareHandler {
  return async (c, next) => {
    if (!['POST', 'PUT', 'PATCH'].includes(c.req.method)) return next()
    const kind = kindOf(c)
    const contentType = c.req.header('content-type') ?? ''
    if (kind === 'upload' && isMultipartForm(contentType)) return next()
    const bytes = await readBytes(c.req.raw, BODY_MAX)
    if (!bytes) throw new Failure('too_large', 'Request body too large')
    // A PATCH without a body changes nothing, whatever its Content-Type is (docs/contract.md §1).
    const mayBeEmpty = c.req.method === 'PATCH' || kind === 'none'
    const isEmpty = bytes.length === 0 && mayBeEmpty
    if (!isEmpty && !JSON_TYPE.test(contentType)) {
      const types = kind === 'upload' ? 'multipart/form-data or application/json' : 'application/json'
      throw new Failure('not_json', `Content-Type must be ${types}`)
    }
    const text = isEmpty ? '{}' : decode(bytes)
    const value = await parse(text, kind === 'upload' ? UPLOAD_LIMITS : LIMITS)
    const isList = Array.isArray(value)
    if (typeof value !== 'object' || value === null || (isList && kind !== 'objectOrList')) {
      throw new Failure('not_an_object', 'Request body must be a JSON object')
    }
    const [extra] = kind === 'none' ? Object.keys(value) : []
    if (extra !== undefined) throw invalid({ [extra]: 'is not a known field' })
    // The validator and the idempotency gate read the body from Hono's cache. The Content-Type is set to its plain form,
    // because the validator takes a body with another form (`application/json ;charset=x`) for an empty one.
    c.req.bodyCache.text = Promise.resolve(text) as never
    c.req.raw.headers.set('content-type', 'application/json')
    return next()
  }
}

const decode = (bytes: Uint8Array) => attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))

/** @throws Failure `invalid_json` when the work throws */
function attempt<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new Failure('invalid_json', 'Invalid JSON body', { cause })
  }
}

/** Redirects run between the steps of a long text. */
async function parse(text: string, limits: JsonLimits): Promise<unknown> {
  const pause = () => (text.length > LONG_BODY ? nextTurn() : undefined)
  await pause()
  const { excess, namesProto } = scanJson(text, limits)
  if (excess === 'depth') {
    throw new Failure('invalid_json', `Invalid JSON body: it is nested deeper than ${limits.depth} levels`)
  }
  if (excess === 'values') throw invalid({ body: `must have at most ${limits.values} values` })
  if (excess === 'entries') {
    throw invalid({ body: `must have at most ${limits.entries} entries in one list or object` })
  }
  await pause()
  const value: unknown = attempt(() => JSON.parse(text))
  await pause()
  // The validator drops the name `__proto__` silently.
  if (namesProto) throw invalid({ ['__proto__']: 'is not a known field' })
  return value
}
