// Declares a route of the REST API: its shape for the API reference, and its facts for the gates. A route declares what is
// special about it; this file adds the shared failures, the credentials and the refusal of unknown parameters.

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import { NAMED_FAILURES } from '../lib/failure.ts'
import { type RouteScope, toReadScope } from './key-scope.ts'
import type { Caller, RouteFacts } from './route-facts.ts'
import { declareFacts } from './route-table.ts'

const ErrorShape = z.strictObject({ error: z.string() }).openapi('Error')
const FieldErrorsShape = z
  .strictObject({ error: z.string(), errors: z.record(z.string(), z.string()) })
  .openapi('FieldErrors')
/** `code` tells a program what the person must do before the same request works. */
const ForbiddenShape = z
  .strictObject({ error: z.string(), code: z.enum(NAMED_FAILURES).optional() })
  .openapi('Forbidden')
/** In a bulk request, the errors have the index of the link. */
const IndexedErrorShape = z
  .strictObject({ error: z.string(), errors: z.record(z.string(), z.string()).optional() })
  .openapi('IndexedError')

/**
 * The answer to a write of an API key without the read scope: the id of the resource, and its last change. For a new
 * resource also the values that the server has generated and the creator needs.
 */
const WrittenShape = z
  .strictObject({
    id: z.int().optional(),
    formKey: z.string().optional(),
    updatedAt: z.iso.datetime().optional(),
    shortUrl: z.url().optional().openapi({ description: 'Of a new link' }),
    endpoint: z.url().optional().openapi({ description: 'Of a new form' }),
    dns: z.array(z.looseObject({})).optional().openapi({ description: 'Of a new domain' }),
  })
  .openapi('Written', { description: 'To an API key that may write here and not read' })

const failure = (description: string, schema: z.ZodType = ErrorShape) => ({
  description,
  content: { 'application/json': { schema } },
})

const COMMON_FAILURES = {
  401: failure('The API key is missing, malformed, unknown or revoked'),
  403: failure('The plan has no API access, or the caller has no permission', ForbiddenShape),
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
  404: failure('Not found in this workspace', IndexedErrorShape),
  409: failure('A name is taken, or other resources depend on this one', IndexedErrorShape),
  412: failure('Another person has changed it since: If-Match names an older version'),
}

const IdempotencyHeader = z.object({
  'idempotency-key': z.string().optional().openapi({
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description: 'Within 24 hours, a repeated request with the same key and body gets the first answer again',
  }),
})

/** Routes without parameters refuse every parameter, so that none is ignored silently. */
const NoQuery = z.strictObject({})

type OptionalFailure = keyof typeof OPTIONAL_FAILURES

/** The callers of a route, for the API reference. No route of the reference is open to everybody. */
const SECURITY: Record<Exclude<Caller, 'anybody'>, Record<string, readonly string[]>[]> = {
  keyOrMember: [{ session: [], workspace: [] }],
  member: [{ session: [], workspace: [] }],
  person: [{ session: [] }],
  keyOrPerson: [{ session: [] }],
}

/** Facts that a route declares beside its shape, where they differ from the default. */
interface OwnFacts {
  /** The default is `keyOrMember`. */
  by?: keyof typeof SECURITY
  /**
   * The scope that an API key needs, or all of several scopes; `any` where every key may call. Required where a key may
   * call, and only there.
   */
  scope?: RouteScope | readonly RouteScope[] | 'any'
  /**
   * The scope that an API key needs to see the whole answer, where it is not the one that reads what `scope` writes; `any`
   * where the answer has nothing that was stored before.
   */
  shows?: RouteScope | 'any'
  /** Whether a POST takes an Idempotency-Key. The default is true. */
  idempotent?: boolean
  /** The answer has a secret that is shown only this once. */
  secretInAnswer?: boolean
  /** The handler waits for an external server. */
  slow?: boolean
  /** A person's session must be fresh. The default is false. */
  fresh?: boolean
  /** The body may be a list as well as an object. */
  takesList?: boolean
  /** The body may be a multipart form as well as an object. The route reads the form itself. */
  takesUpload?: boolean
  /** Failures that are specific to this route. */
  fails?: OptionalFailure[]
}

/** The responses, and the shorter ones for a key that may not see them. */
function addWritten(responses: RouteConfig['responses']): RouteConfig['responses'] {
  const added = Object.entries(responses).map(([status, response]) => {
    const json = 'content' in response ? response.content?.['application/json'] : undefined
    if (!json || !('schema' in json) || !(json.schema instanceof z.ZodObject)) return [status, response]
    const { data } = json.schema.shape
    const written = data instanceof z.ZodArray ? z.array(WrittenShape) : WrittenShape
    const schema = z.strictObject({ data: z.union([data, written]) })
    return [status, { ...response, content: { 'application/json': { ...json, schema } } }]
  })
  return Object.fromEntries(added)
}

function toScopes(scope: OwnFacts['scope']): readonly RouteScope[] {
  if (scope === undefined || scope === 'any') return []
  return typeof scope === 'string' ? [scope] : scope
}

/** `createRoute` with the common parts of docs/contract.md §1. */
export function apiRoute<const R extends RouteConfig>(declared: R & OwnFacts) {
  const { fails = [], by = 'keyOrMember', idempotent = true, secretInAnswer = false, ...more } = declared
  const { slow = false, fresh = false, takesList = false, takesUpload = false, scope, shows, ...route } = more
  const keysMayCall = by === 'keyOrMember' || by === 'keyOrPerson'
  if (keysMayCall !== (scope !== undefined))
    throw new Error(`${route.method} ${route.path}: a route declares a scope when API keys may call it`)
  const body = route.request?.body
  const scopes = toScopes(scope)
  const facts: RouteFacts = {
    by,
    scopes,
    shows: shows === undefined ? scopes.map(toReadScope) : toScopes(shows),
    body: !body ? 'none' : takesUpload ? 'upload' : takesList ? 'objectOrList' : 'object',
    idempotent: route.method === 'post' && idempotent,
    secretInAnswer,
    slow,
    fresh,
  }
  // On every such route, a person can name a workspace of which they are not a member.
  const inWorkspace = by === 'keyOrMember' || by === 'member'
  const own = Object.fromEntries(
    [...(inWorkspace ? [404 as const] : []), ...fails].map((s) => [s, OPTIONAL_FAILURES[s]]),
  )
  return createRoute({
    // OpenAPI 3.1 lets every security requirement name the roles that it needs.
    security: [...(keysMayCall ? [{ apiKey: facts.scopes }] : []), ...SECURITY[by]],
    middleware: declareFacts(facts),
    ...route,
    request: {
      query: NoQuery,
      ...(facts.idempotent ? { headers: IdempotencyHeader } : {}),
      ...route.request,
      ...(body ? { body: { required: true, ...body } } : {}),
    },
    responses: {
      ...(facts.shows.every((each) => scopes.includes(each)) ? route.responses : addWritten(route.responses)),
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

/** @param example a body that the API reference offers: it works as it stands in a new workspace */
export const jsonRequestBody = <T extends z.ZodType>(schema: T, example: z.input<T>) => ({
  content: { 'application/json': { schema, example } },
})

/** The `id` of a path. For a text that is no id, the answer is 404. */
export const IdParameter = z.object({
  id: z.string().openapi({ param: { name: 'id', in: 'path' }, type: 'integer', example: 1 }),
})

/** @returns 0 for a text that is no id: no row has the id 0 */
export const parseId = (text: string) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)
