// Declares a route of the REST API: its shape for the API reference, and its facts for the gates. Each route says only
// what is its own; the shared answers, the credentials and the refusal of unknown parameters are added here.

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import type { Caller, RouteFacts } from './route-facts.ts'
import { declareFacts } from './route-table.ts'

const ErrorShape = z.strictObject({ error: z.string() }).openapi('Error')
const FieldErrorsShape = z
  .strictObject({ error: z.string(), errors: z.record(z.string(), z.string()) })
  .openapi('FieldErrors')
/** Of several links, the errors say by index which one it was. */
const IndexedErrorShape = z
  .strictObject({ error: z.string(), errors: z.record(z.string(), z.string()).optional() })
  .openapi('IndexedError')

const failure = (description: string, schema: z.ZodType = ErrorShape) => ({
  description,
  content: { 'application/json': { schema } },
})

const COMMON_FAILURES = {
  401: failure('No API key, or one that is malformed, unknown or revoked'),
  403: failure('The plan has no API access, or whoever asks may not do this'),
  429: failure('More requests than the plan allows; wait as Retry-After says'),
  500: failure('A fault of the service'),
  503: failure('A store is down or full; try again as Retry-After says'),
}
const BODY_FAILURES = {
  400: failure('The body is not a JSON object'),
  413: failure('The body is larger than 1 MiB'),
  415: failure('The body is not application/json'),
}
const OPTIONAL_FAILURES = {
  404: failure('No such thing in this workspace', IndexedErrorShape),
  409: failure('A name is taken, or things stand in the way', IndexedErrorShape),
}

const IdempotencyHeader = z.object({
  'idempotency-key': z.string().optional().openapi({
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description: 'A repeated request with the same key and body within 24 hours gets the first answer again',
  }),
})

/** Routes without parameters refuse every parameter: nothing is silently ignored. */
const NoQuery = z.strictObject({})

type OptionalFailure = keyof typeof OPTIONAL_FAILURES

/** What the API reference says of who may call a route. No route described there is open to everybody. */
const SECURITY: Record<Exclude<Caller, 'anybody'>, Record<string, string[]>[]> = {
  keyOrMember: [{ apiKey: [] }, { session: [], workspace: [] }],
  member: [{ session: [], workspace: [] }],
  person: [{ session: [] }],
  keyOrPerson: [{ apiKey: [] }, { session: [] }],
}

/** What a route may say of itself beside its shape. What is usual need not be said. */
interface OwnFacts {
  /** `keyOrMember`, unless said otherwise. */
  by?: keyof typeof SECURITY
  /** Whether a POST takes an Idempotency-Key; it does, unless said otherwise. */
  idempotent?: boolean
  /** The answer has a secret that is shown only this once. */
  secretInAnswer?: boolean
  /** The handler waits for somebody else's server. */
  slow?: boolean
  /** The body may be a list as well as an object. */
  takesList?: boolean
  /** The failures that can happen on this route and not on every route. */
  fails?: OptionalFailure[]
}

/** `createRoute` with the common parts of docs/contract.md §1. */
export function apiRoute<const R extends RouteConfig>(declared: R & OwnFacts) {
  const { fails = [], by = 'keyOrMember', idempotent = true, secretInAnswer = false, ...more } = declared
  const { slow = false, takesList = false, ...route } = more
  const body = route.request?.body
  const facts: RouteFacts = {
    by,
    body: body ? (takesList ? 'objectOrList' : 'object') : 'none',
    idempotent: route.method === 'post' && idempotent,
    secretInAnswer,
    slow,
  }
  // A person may name a workspace that is not theirs, whatever they ask.
  const inWorkspace = by === 'keyOrMember' || by === 'member'
  const own = Object.fromEntries(
    [...(inWorkspace ? [404 as const] : []), ...fails].map((s) => [s, OPTIONAL_FAILURES[s]]),
  )
  return createRoute({
    security: SECURITY[by],
    middleware: declareFacts(facts),
    ...route,
    request: {
      query: NoQuery,
      ...(facts.idempotent ? { headers: IdempotencyHeader } : {}),
      ...route.request,
      ...(body ? { body: { required: true, ...body } } : {}),
    },
    responses: {
      ...route.responses,
      422: failure('A field or parameter is invalid, unknown or missing', FieldErrorsShape),
      ...COMMON_FAILURES,
      ...(body ? BODY_FAILURES : {}),
      ...own,
    },
  } as unknown as R)
}

/** `{"data": …}` with the given status. */
export const dataResponse = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema: z.strictObject({ data: schema }) } },
})

/** `{"data": [...], "nextCursor": …, "total": n}` */
export const pageResponse = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: {
    'application/json': {
      schema: z.strictObject({ data: z.array(schema), nextCursor: z.string().nullable(), total: z.int() }),
    },
  },
})

export const jsonRequestBody = <T extends z.ZodType>(schema: T) => ({
  content: { 'application/json': { schema } },
})

/** The `id` of a path. Text that is no id is simply not found. */
export const IdParameter = z.object({
  id: z.string().openapi({ param: { name: 'id', in: 'path' }, type: 'integer', example: 1 }),
})

/** @returns 0, which no row has, for text that is no id. */
export const parseId = (text: string) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)
