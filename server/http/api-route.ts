// How a route of the REST API is described, so that each one says only what is its own: the shared answers, the key
// it needs and the refusal of unknown parameters are added here.

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'

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

/** Who may ask: a key, or a person who is signed in and says in which workspace. Two requests are about no workspace. */
const SECURITY = {
  anybody: [{ apiKey: [] }, { session: [], workspace: [] }],
  people: [{ session: [], workspace: [] }],
  person: [{ session: [] }],
  keysAndPerson: [{ apiKey: [] }, { session: [] }],
}

interface RouteOptions {
  /** Which of the particular failures can happen. */
  fails?: OptionalFailure[]
  /** anybody, unless said otherwise */
  by?: keyof typeof SECURITY
  /** false: a POST that takes no Idempotency-Key */
  repeatable?: boolean
}

/** `createRoute` with the common parts of docs/contract.md §1. */
export function apiRoute<const R extends RouteConfig>(described: R & RouteOptions) {
  const { fails = [], by = 'anybody', repeatable = true, ...route } = described
  // A person may name a workspace that is not theirs, whatever they ask.
  const inWorkspace = by === 'anybody' || by === 'people'
  const own = Object.fromEntries(
    [...(inWorkspace ? [404 as const] : []), ...fails].map((s) => [s, OPTIONAL_FAILURES[s]]),
  )
  const body = route.request?.body
  return createRoute({
    security: SECURITY[by],
    ...route,
    request: {
      query: NoQuery,
      ...(route.method === 'post' && repeatable ? { headers: IdempotencyHeader } : {}),
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
