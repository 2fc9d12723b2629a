// Generates the source of @towpath/sdk from the API's OpenAPI document: a type for each schema, a method for each operation.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DocumentSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: DocumentSchema[]
  oneOf?: DocumentSchema[]
  allOf?: DocumentSchema[]
  items?: DocumentSchema
  properties?: Record<string, DocumentSchema>
  required?: string[]
  additionalProperties?: DocumentSchema | boolean
  description?: string
}

interface DocumentedParameter {
  name: string
  in: string
  required?: boolean
  schema: DocumentSchema
  description?: string
}

interface DocumentedOperation {
  operationId: string
  summary?: string
  description?: string
  parameters?: DocumentedParameter[]
  requestBody?: { content: Record<string, { schema: DocumentSchema }> }
  responses: Record<string, { content?: Record<string, { schema: DocumentSchema }> }>
}

/** The parts of an OpenAPI document that the client is made from. */
export interface SdkDocument {
  info: { version: string }
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, DocumentSchema> }
}

const JSON_TYPE = 'application/json'

/** @returns one TypeScript module, which imports nothing */
export function generateClient(document: SdkDocument): string {
  const types = Object.entries(document.components.schemas).map(([name, schema]) => writeType(name, schema))
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describeOperation(document, path, method, operation),
    ),
  )
  return [
    readFileSync(join(import.meta.dir, '../sdk/client.ts'), 'utf8'),
    ...types,
    ...operations.map(({ parametersType }) => parametersType),
    `/** The API of version ${document.info.version}. */`,
    'export class Towpath extends TowpathClient {',
    ...operations.map(({ method }) => method),
    '}',
    '',
  ].join('\n')
}

const writeType = (name: string, schema: DocumentSchema) =>
  `${writeComment(schema.description, '')}export type ${name} = ${toType(schema)}\n`

function describeOperation(
  document: SdkDocument,
  path: string,
  method: string,
  operation: DocumentedOperation,
): { parametersType: string; method: string } {
  const { operationId, parameters = [], requestBody } = operation
  const sent = parameters.filter((each) => each.in !== 'header')
  const json = requestBody?.content[JSON_TYPE]?.schema
  const takesForm = requestBody?.content['multipart/form-data'] !== undefined
  const isFields = json !== undefined && !takesForm && hasFields(document, json)
  const body = json === undefined ? 'none' : isFields ? 'fields' : 'whole'
  const parts = [
    ...(sent.length > 0 ? [writeParameters(sent)] : []),
    ...(isFields && json ? [toType(json)] : []),
    ...(body === 'whole' && json ? [`{ body: ${toType(json)}${takesForm ? ' | FormData' : ''} }`] : []),
  ]
  const isOptional = !sent.some(({ required }) => required) && body === 'none'
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Parameters`
  const { type, answer, pages } = describeAnswer(document, operation)
  const facts = {
    method: method.toUpperCase(),
    path,
    query: sent.filter((each) => each.in === 'query').map((each) => each.name),
    body,
    idempotent: parameters.some((each) => each.name === 'idempotency-key'),
    answer,
  }
  const signature = `parameters: ${name}${isOptional ? ' = {}' : ''}, options?: CallOptions`
  const call = `(${JSON.stringify(facts)}, parameters, options)`
  const comment = [operation.summary, operation.description].filter(Boolean).join('. ')
  return {
    parametersType: `export type ${name} = ${parts.join(' & ') || 'Record<string, never>'}\n`,
    method: `${writeComment(comment, '  ')}  ${operationId}(${signature}): ${
      pages ? `${pages} { return this.list${call} }` : `Promise<${type}> { return this.send${call} }`
    }`,
  }
}

/** A body with fields beside the other parameters. A list, or one of several shapes, is the parameter `body`. */
const hasFields = (document: SdkDocument, schema: DocumentSchema) =>
  resolve(document, schema).properties !== undefined

function resolve(document: SdkDocument, schema: DocumentSchema): DocumentSchema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  return name === undefined ? schema : resolve(document, document.components.schemas[name] as DocumentSchema)
}

interface DescribedAnswer {
  type: string
  answer: 'file' | 'json' | 'data'
  /** The type of the pages of a list or a feed. */
  pages?: string
}

function describeAnswer(document: SdkDocument, { responses }: DocumentedOperation): DescribedAnswer {
  const bodies = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const schemas = bodies.map(
    ([, { content = {} }]) => (Object.keys(content).length === 1 ? content[JSON_TYPE] : undefined)?.schema,
  )
  if (schemas.some((schema) => schema === undefined)) return { type: 'Response', answer: 'file' }
  const known = schemas.map((schema) => resolve(document, schema as DocumentSchema))
  const names = Object.keys(known[0]?.properties ?? {}).join()
  const join = (types: string[]) => [...new Set(types)].join(' | ')
  const row = toType(known[0]?.properties?.data?.items ?? {})
  if (names === 'data,nextCursor,total') return { type: row, answer: 'json', pages: `Pages<${row}>` }
  if (names === 'data,after,hasMore')
    return { type: row, answer: 'json', pages: `Pages<${row}, FeedPage<${row}>>` }
  if (names !== 'data') return { type: join((schemas as DocumentSchema[]).map(toType)), answer: 'json' }
  return {
    type: join(known.map(({ properties }) => toType(withoutWritten(properties?.data ?? {})))),
    answer: 'data',
  }
}

/** A key that may write and not read gets less than the resource. Few keys are such, so the type is the resource's. */
function withoutWritten(schema: DocumentSchema): DocumentSchema {
  const isWritten = ({ $ref, items }: DocumentSchema) => ($ref ?? items?.$ref)?.endsWith('/Written') ?? false
  return schema.anyOf ? { ...schema, anyOf: schema.anyOf.filter((each) => !isWritten(each)) } : schema
}

const writeParameters = (parameters: DocumentedParameter[]) =>
  `{\n${parameters
    .map(({ name, in: where, required, schema, description }) => {
      const type = where === 'path' ? toPathType(schema) : toQueryType(schema)
      return `${writeComment(description, '  ')}  ${toName(name)}${required ? '' : '?'}: ${type}\n`
    })
    .join('')}}`

const toPathType = ({ type }: DocumentSchema) => (type === 'integer' ? 'number' : 'string')

/** Every value of a query is a text: numbers, instants and lists of values are written as one. */
function toQueryType(schema: DocumentSchema): string {
  const names = schema.enum?.map(String)
  if (!names) return schema.type === 'integer' ? 'number' : 'QueryValue'
  const isBoolean = (name: string) => name === 'true' || name === 'false'
  const others = names.filter((name) => !isBoolean(name)).map((name) => JSON.stringify(name))
  return [...(names.some(isBoolean) ? ['boolean'] : []), ...others].join(' | ')
}

function toType(schema: DocumentSchema): string {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  if (name !== undefined) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  // Beside properties, it says which of them must be given together.
  const either = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf)
  if (either) return [...new Set(either.map(toType))].join(' | ') || 'unknown'
  if (schema.allOf) return schema.allOf.map((each) => `(${toType(each)})`).join(' & ')
  const types = [schema.type ?? (schema.properties ? 'object' : '')].flat()
  return types.map((type) => toSingleType(type, schema)).join(' | ')
}

function toSingleType(type: string, schema: DocumentSchema): string {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'array') return `(${toType(schema.items ?? {})})[]`
  return type === 'object' ? toObjectType(schema) : 'unknown'
}

function toObjectType({ properties = {}, required = [], additionalProperties }: DocumentSchema): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${writeComment(schema.description, '  ')}  ${toName(name)}${mark}: ${toType(schema)}\n`
  })
  if (members.length > 0) return `{\n${members.join('')}}`
  const values = typeof additionalProperties === 'object' ? toType(additionalProperties) : 'unknown'
  return `Record<string, ${values}>`
}

const toName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const writeComment = (text: string | undefined, indent: string) =>
  text === undefined || text === ''
    ? ''
    : `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`
