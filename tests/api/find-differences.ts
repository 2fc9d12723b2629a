// Compares an answer with the OpenAPI document.

import type { HttpAnswer } from '../support/server/http-call.ts'
import { findBodySchema, listParameters, listSchemaErrors, type Operation } from './openapi-document.ts'
import type { SampleRequest } from './sample-requests.ts'

export interface ApiRequest extends Omit<SampleRequest, 'bodies'> {
  body?: unknown
  headers?: Record<string, string>
}

/** @returns the differences between the answer and the document; empty when there are none */
export function findDifferences(
  operation: Operation,
  request: ApiRequest,
  { status, headers, text, json }: HttpAnswer,
): string[] {
  const documented = operation.responses[status]
  if (!documented) return [`${status} is not documented: ${text.slice(0, 200)}`]
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const content = documented.content?.[type] ?? documented.content?.['*/*']
  if (!content) return [`${type} is not documented`]
  const limits = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  const missing = [
    'x-request-id',
    ...(status === 401 ? ['www-authenticate'] : []),
    // Rate limits of plans apply to API keys and not to users.
    ...(status !== 401 && !request.headers?.Cookie ? limits : []),
    ...(status === 429 ? ['retry-after'] : []),
    ...Object.keys(documented.headers ?? {}),
  ].filter((name) => !headers.has(name))
  return [
    ...missing.map((name) => `the header ${name} is missing`),
    ...(type === 'application/json'
      ? [...listSchemaErrors(content.schema, json), ...findInexactTimes(json)]
      : []),
    // Accepted input must be documented too: callers know only the document.
    ...(status < 300 ? findUndescribedInput(operation, request) : []),
  ]
}

function findUndescribedInput(operation: Operation, { body, query = {} }: ApiRequest): string[] {
  const schema = findBodySchema(operation)
  const wrong = schema && body !== undefined ? listSchemaErrors(schema, body) : []
  const parameters = listParameters('query', operation)
  return [
    ...wrong.map((each) => `the accepted body: ${each}`),
    ...Object.entries(query).flatMap(([name, value]) => {
      const parameter = parameters.find((each) => each.name === name)
      if (!parameter) return [`${name} was accepted and is not documented`]
      const read = parameter.schema.type === 'integer' ? Number(value) : value
      return listSchemaErrors(parameter.schema, read).map((each) => `${name} was accepted: ${each}`)
    }),
  ]
}

/** Every time has milliseconds and is UTC (docs/contract.md §1). */
function findInexactTimes(value: unknown, name = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => findInexactTimes(inner, key))
  const time = typeof value === 'string' && /(^time|^start|^end|At)$/.test(name)
  // Quiet hours begin and end at a time of the clock.
  if (typeof value === 'string' && /^\d\d:\d\d$/.test(value)) return []
  return time && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) ? [`${name} is ${value}`] : []
}
