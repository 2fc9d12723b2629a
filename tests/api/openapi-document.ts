// Reads the OpenAPI document from a server before the tests are defined. Tests are generated from its operations, so
// that every new operation is tested.

import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { RouteFacts } from '../../server/http/route-facts.ts'
import { listRoutes } from '../../server/http/route-table.ts'
import { startServer } from '../support/world.ts'

export interface Schema {
  type?: string | string[]
  enum?: unknown[]
  example?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  $ref?: string
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  required?: boolean
  description?: string
  example?: unknown
  schema: Schema
}

type Content = Record<string, { schema: Schema; example?: unknown }>

export interface Operation {
  id: string
  /** Upper case. */
  method: string
  /** As the document writes it: `/v1/links/{id}`. */
  path: string
  summary?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { headers?: Record<string, unknown>; content?: Content }>
}

interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, Omit<Operation, 'id' | 'method' | 'path'> & { operationId?: string }>>
  tags?: { name: string }[]
  components: { schemas: Record<string, Schema> }
}

const server = await startServer('sqlite')
const answer = await server.call('/v1/openapi.json')
export const openApi = { answer, document: answer.json as OpenApiDocument }

/** The facts of every mounted route, by method and path: `GET /v1/links/{id}`. */
const factsByRoute = new Map(
  listRoutes(server.app.routes.rest).map(({ method, path, facts }) => [
    `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    facts,
  ]),
)
export const mountedRoutes = [...factsByRoute.keys()]

/** @returns the facts that the route of an operation declares @throws when it declares none */
export function getRouteFacts({ method, path }: Operation): RouteFacts {
  const facts = factsByRoute.get(`${method} ${path}`)
  if (!facts) throw new Error(`${method} ${path} declares no facts: use apiRoute()`)
  return facts
}
await server.close()

export const documentedOperations: Operation[] = Object.entries(openApi.document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      id: operation.operationId ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
    })),
)

export function getOperation(id: string): Operation {
  const operation = documentedOperations.find((each) => each.id === id)
  if (!operation) throw new Error(`the document has no operation ${id}`)
  return operation
}

export const listParameters = (where: Parameter['in'], { parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === where)

/** Follows references until it reaches the schema itself. */
export function resolveSchema(schema: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  return name === undefined ? schema : resolveSchema(openApi.document.components.schemas[name] as Schema)
}

export const findBodySchema = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema

// ajv's strict mode refuses keywords of OpenAPI such as `example`.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema(openApi.document, 'api')
const validators = new Map<Schema, ReturnType<typeof ajv.compile>>()

/** @returns the errors of a value under a schema of the document; empty when it is valid */
export function listSchemaErrors(schema: Schema, value: unknown): string[] {
  let validate = validators.get(schema)
  if (!validate) {
    // References in the document are relative to its root.
    validate = ajv.compile(toRootedReferences(schema) as object)
    validators.set(schema, validate)
  }
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}

const toRootedReferences = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', '"$ref":"api#/'))
