// Builds the tools from the OpenAPI document: each takes the parameters and the body of its operation as arguments.

import type { RouteScope } from '../../http/key-scope.ts'
import { TOOL_LIST, type ToolChoice } from './tool-list.ts'

export type JsonSchema = Record<string, unknown>

interface DocumentedParameter {
  name: string
  in: string
  required?: boolean
  schema: JsonSchema
  description?: string
}

interface DocumentedOperation {
  operationId?: string
  security?: Record<string, RouteScope[]>[]
  parameters?: DocumentedParameter[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}

/** The parts of an OpenAPI document that tools are made from. */
export interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, JsonSchema> }
}

/** What an argument becomes in the request. */
export interface ToolArgument {
  place: 'path' | 'query' | 'body'
  /** Only whole numbers: another text could name another route. */
  isId: boolean
}

/** `cursor`: rows of a list. `after`: rows of a feed, to which more come. */
export type PageArgument = 'cursor' | 'after'
const POSITIONS = ['cursor', 'after'] as const satisfies PageArgument[]

export interface ApiTool extends ToolChoice {
  title: string
  method: string
  /** Such as `/v1/links/{id}`. */
  path: string
  /** The scopes that an API key needs. */
  scopes: RouteScope[]
  /** The argument that leads to the next page of a list. */
  position?: PageArgument
  arguments: Map<string, ToolArgument>
  inputSchema: { type: 'object' } & JsonSchema
}

/** Rows of a list when the caller does not say how many: an assistant reads every row. */
export const ROWS = 20
export const ROWS_MAX = 50

/** Annotations that only the API reference needs. The API itself enforces lengths and patterns, with a message. */
const LEFT_OUT = new Set(['example', 'examples', 'maxLength', 'minLength', 'pattern'])

/** Tools whose operation the document lacks are left out: the server may be of another version. */
export function buildTools(document: ApiDocument): ApiTool[] {
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        { path, method: method.toUpperCase(), operation },
      ]),
    ),
  )
  return TOOL_LIST.flatMap((choice) => {
    const found = operations.get(choice.operation)
    return found ? [buildTool(document, choice, found)] : []
  })
}

interface FoundOperation {
  path: string
  method: string
  operation: DocumentedOperation
}

function buildTool(
  document: ApiDocument,
  choice: ToolChoice,
  { path, method, operation }: FoundOperation,
): ApiTool {
  const offered = (name: string) => choice.only?.includes(name) ?? true
  const parameters = (operation.parameters ?? []).filter((each) => each.in !== 'header' && offered(each.name))
  const body = findBody(document, operation)
  const fields = Object.entries((body?.properties ?? {}) as Record<string, JsonSchema>).filter(([name]) =>
    offered(name),
  )
  const position = POSITIONS.find((each) => parameters.some(({ name }) => name === each))
  const properties = Object.fromEntries([
    ...parameters.map((each) => [each.name, describeParameter(each, position)]),
    ...fields,
  ])
  const required = [
    ...parameters.filter((each) => each.required).map(({ name }) => name),
    ...((body?.required ?? []) as string[]),
  ]
  return {
    ...choice,
    title: choice.name.replace(/_/g, ' ').replace(/^./, (letter) => letter.toUpperCase()),
    path,
    method,
    position,
    scopes: operation.security?.find((each) => each.apiKey)?.apiKey ?? [],
    arguments: new Map<string, ToolArgument>([
      ...parameters.map(({ name, in: where, schema }): [string, ToolArgument] => [
        name,
        { place: where === 'path' ? 'path' : 'query', isId: where === 'path' && schema.type === 'integer' },
      ]),
      ...fields.map(([name]): [string, ToolArgument] => [name, { place: 'body', isId: false }]),
    ]),
    inputSchema: inlineReferences(document, {
      type: 'object',
      properties,
      required,
      additionalProperties: false,
    }),
  }
}

/** The object that a body may be. Where the API takes a list of them as well, a tool takes one. */
function findBody(document: ApiDocument, { requestBody }: DocumentedOperation): JsonSchema | undefined {
  const resolve = (schema: JsonSchema): JsonSchema => {
    const [first] = (schema.anyOf ?? []) as JsonSchema[]
    const name = toComponentName(schema)
    if (name !== undefined) return resolve(document.components.schemas[name] as JsonSchema)
    return first ? resolve(first) : schema
  }
  const schema = requestBody?.content['application/json']?.schema
  return schema && resolve(schema)
}

function describeParameter(
  { name, schema, description }: DocumentedParameter,
  position: PageArgument | undefined,
): JsonSchema {
  if (name === 'limit' && position) return { type: 'integer', minimum: 1, maximum: ROWS_MAX, default: ROWS }
  if (name === 'cursor') return { type: 'string', description: '`nextCursor` of the page before' }
  // A query is text: the API's own schema of a number in it is one of a text.
  return { ...schema, description: description ?? schema.description }
}

const toComponentName = (schema: JsonSchema) =>
  /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1]

/** A tool's schema stands alone. Schemas of requests do not refer to themselves. */
function inlineReferences<T>(document: ApiDocument, value: T): T {
  const walk = (each: unknown, isNames: boolean): unknown => {
    if (Array.isArray(each)) return each.map((item) => walk(item, false))
    if (typeof each !== 'object' || each === null) return each
    const name = toComponentName(each as JsonSchema)
    if (name !== undefined) return walk(document.components.schemas[name], false)
    return Object.fromEntries(
      Object.entries(each)
        .filter(([key]) => isNames || !LEFT_OUT.has(key))
        .map(([key, item]) => [key, walk(item, !isNames && key === 'properties')]),
    )
  }
  return walk(value, false) as T
}
