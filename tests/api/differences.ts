// An answer held against the document.

import type { Answer } from '../support/server.ts'
import { bodySchema, type Operation, parametersIn, violations } from './document.ts'
import type { Sample } from './samples.ts'

export interface Ask extends Omit<Sample, 'bodies'> {
  body?: unknown
  headers?: Record<string, string>
}

/** What the answer says that the document does not, and the other way round. */
export function differences(
  operation: Operation,
  ask: Ask,
  { status, headers, text, json }: Answer,
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
    ...(type === 'application/json' ? [...violations(content.schema, json), ...inexactTimes(json)] : []),
    // What is taken is described as well: a caller who writes by the document must not miss a form.
    ...(status < 300 ? undescribed(operation, ask) : []),
  ]
}

function undescribed(operation: Operation, { body, query = {} }: Ask): string[] {
  const schema = bodySchema(operation)
  const wrong = schema && body !== undefined ? violations(schema, body) : []
  const parameters = parametersIn('query', operation)
  return [
    ...wrong.map((each) => `the body that was taken: ${each}`),
    ...Object.entries(query).flatMap(([name, value]) => {
      const parameter = parameters.find((each) => each.name === name)
      if (!parameter) return [`${name} was taken and is not documented`]
      const read = parameter.schema.type === 'integer' ? Number(value) : value
      return violations(parameter.schema, read).map((each) => `${name} was taken: ${each}`)
    }),
  ]
}

/** Every time has milliseconds and is UTC (contract §1). */
function inexactTimes(value: unknown, name = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => inexactTimes(inner, key))
  const time = typeof value === 'string' && /(^time|^start|^end|At)$/.test(name)
  return time && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) ? [`${name} is ${value}`] : []
}
