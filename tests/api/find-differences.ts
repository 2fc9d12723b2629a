// An answer held against the document.

import type { HttpAnswer } from '../support/server/http-call.ts'
import { findBodySchema, listParameters, listSchemaErrors, type Operation } from './openapi-document.ts'
import type { SampleRequest } from './sample-requests.ts'

export interface ApiRequest extends Omit<SampleRequest, 'bodies'> {
  body?: unknown
  headers?: Record<string, string>
}

/** What the answer says that the document does not, and the other way round. */
export function findDifferences(
  operation: Operation,
  ask: ApiRequest,
  { status, headers, text, json }: HttpAnswer,
): string[] {
  const documented = operation.responses[status]
  if (!documented) return [`${status} is not documented: ${text.slice(0, 200)}`]
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const content = documented.content?.[type]
  if (!content) return [`${type} is not documented`]
  const limits = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  const missing = [
    'x-request-id',
    ...(status === 401 ? ['www-authenticate'] : []),
    // Plans limit keys, and not people.
    ...(status !== 401 && !ask.headers?.Cookie ? limits : []),
    ...(status === 429 ? ['retry-after'] : []),
    ...Object.keys(documented.headers ?? {}),
  ].filter((name) => !headers.has(name))
  return [
    ...missing.map((name) => `there is no header ${name}`),
    ...(type === 'application/json'
      ? [...listSchemaErrors(content.schema, json), ...findInexactTimes(json)]
      : []),
    // What is taken is described as well: a caller who writes by the document must not miss a form.
    ...(status < 300 ? findUndescribedInput(operation, ask) : []),
  ]
}

function findUndescribedInput(operation: Operation, { body, query = {} }: ApiRequest): string[] {
  const schema = findBodySchema(operation)
  const wrong = schema && body !== undefined ? listSchemaErrors(schema, body) : []
  const parameters = listParameters('query', operation)
  return [
    ...wrong.map((each) => `the body that was taken: ${each}`),
    ...Object.entries(query).flatMap(([name, value]) => {
      const parameter = parameters.find((each) => each.name === name)
      if (!parameter) return [`${name} was taken and is not documented`]
      const read = parameter.schema.type === 'integer' ? Number(value) : value
      return listSchemaErrors(parameter.schema, read).map((each) => `${name} was taken: ${each}`)
    }),
  ]
}

/** Every time has milliseconds and is UTC (docs/contract.md §1). */
function findInexactTimes(value: unknown, name = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => findInexactTimes(inner, key))
  const time = typeof value === 'string' && /(^time|^start|^end|At)$/.test(name)
  return time && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) ? [`${name} is ${value}`] : []
}
