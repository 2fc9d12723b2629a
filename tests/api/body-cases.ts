// Creates bodies with one invalid field, for every field of the OpenAPI document at every depth, and bodies that are
// invalid as a whole.

import { mustRefuseBody } from './expected-refusal.ts'
import {
  BAD_BODIES,
  BAD_URLS,
  createObjectWithKey,
  LONE_SURROGATES,
  LONG_TEXT,
  NUL,
  ODD_TEXTS,
  ODD_VALUES,
  toRawJson,
  toServerValue,
  UNKNOWN_NAMES,
} from './hostile-input.ts'
import {
  findBodySchema,
  listSchemaErrors,
  type Operation,
  resolveSchema,
  type Schema,
} from './openapi-document.ts'
import { type PickSome, type RequestCase, toShortText } from './request-case.ts'
import { type SampleRequest, toFirstBody, toRequestUrl } from './sample-requests.ts'

export const createBodyCases = (
  operation: Operation,
  sample: SampleRequest,
  pick: PickSome,
): RequestCase[] => [...fieldCases(operation, sample, pick), ...wholeBodies(operation, sample, pick)]

interface BodyLocation {
  at: (string | number)[]
  schema: Schema
  /** True when the document allows no other names in this object. */
  closed: boolean
}

/** Every field of a body, at every depth. Where a body has several forms, the form of `value`. */
function listBodyLocations(written: Schema, value: unknown, at: BodyLocation['at'] = []): BodyLocation[] {
  const schema = resolveSchema(written)
  const branch = schema.anyOf?.find(
    (each) => value !== undefined && listSchemaErrors(each, value).length === 0,
  )
  if (branch && (at.length === 0 || typeof value === 'object')) return listBodyLocations(branch, value, at)
  const own = { at, schema, closed: schema.additionalProperties === false }
  const inner = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, each] as const)
  const first = Array.isArray(value) && value.length > 0 ? value[0] : undefined
  const given = (name: string) => (value as Record<string, unknown> | undefined)?.[name]
  return [
    own,
    ...inner.flatMap(([name, each]) => listBodyLocations(each, given(name), [...at, name])),
    ...(schema.items ? listBodyLocations(schema.items, first, [...at, 0]) : []),
    ...(typeof schema.additionalProperties === 'object'
      ? listBodyLocations(schema.additionalProperties, undefined, [...at, 'DE'])
      : []),
  ]
}

/** @returns a copy with `value` at the location; missing objects and lists on the way are created */
function withValue(body: unknown, [step, ...rest]: BodyLocation['at'], value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const list = Array.isArray(body) ? body : []
    return [...list.slice(0, step), withValue(list[step], rest, value), ...list.slice(step + 1)]
  }
  const object = typeof body === 'object' && body !== null ? body : {}
  const inner = withValue((object as Record<string, unknown>)[step], rest, value)
  return { ...object, ...createObjectWithKey(step, inner) }
}

function fieldCases(operation: Operation, sample: SampleRequest, pick: PickSome): RequestCase[] {
  const schema = findBodySchema(operation) as Schema
  const url = toRequestUrl(operation, sample)
  return (sample.bodies ?? []).flatMap((body, form) =>
    // Few for each form: a link's fields are in five operations, and in each form of their bodies.
    pick(listBodyLocations(schema, body), form === 0 ? 16 : 5).flatMap((place) => {
      const { at, schema: own, closed } = place
      // The texts of a filter have the grammar of filters, whatever they are compared with.
      const name = at.includes('filter')
        ? 'filter'
        : String(at.findLast((step) => typeof step === 'string') ?? '')
      const withInvalidValue = (value: unknown): RequestCase => {
        const whole = withValue(body, at, value)
        const mustBeRefused = mustRefuseBody(schema, toServerValue(whole), name, toServerValue(value))
        return {
          description: `${at.join('.') || 'body'}: ${toShortText(value)}`,
          mustBeRefused,
          url,
          body: toRawJson(whole),
        }
      }
      const withUnknownField = (field: string): RequestCase => ({
        description: `${at.join('.') || 'body'} with the unknown field ${toShortText(field)}`,
        mustBeRefused: true,
        status: 422,
        url,
        body: toRawJson(withValue(body, [...at, field], 1)),
      })
      const values = at.length === 0 ? pick(ODD_VALUES, 8) : valuesFor(own, pick)
      return [
        ...values.map(withInvalidValue),
        ...(closed ? pick(UNKNOWN_NAMES, 2).map(withUnknownField) : []),
      ]
    }),
  )
}

function valuesFor(schema: Schema, pick: PickSome): unknown[] {
  const text = [schema.type].flat().includes('string')
  const { minimum, maximum, maxItems, maxLength, format } = schema
  return [
    ...pick(ODD_VALUES, 2),
    ...(text ? [NUL, ...pick(LONE_SURROGATES, 1), ...pick(ODD_TEXTS, 2), LONG_TEXT] : pick(ODD_TEXTS, 1)),
    ...(format === 'uri' ? pick(BAD_URLS, 2) : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, (_, i) => i + 1)]),
    ...(maxLength === undefined
      ? []
      : [`https://example.com/${'x'.repeat(maxLength)}`.slice(0, maxLength + 1)]),
  ]
}

const FORM_TYPE = 'multipart/form-data'

function wholeBodies(operation: Operation, sample: SampleRequest, pick: PickSome): RequestCase[] {
  const url = toRequestUrl(operation, sample)
  // One function reads the bodies of all operations: together they get each of these bodies.
  const bad = pick(BAD_BODIES, 10)
    // A PATCH without a body is valid and changes nothing (docs/contract.md §1).
    .filter(({ what }) => !(operation.method === 'PATCH' && what === 'nothing'))
    // Where a form is taken, one without its fields is invalid input.
    .map((body) =>
      body.type?.startsWith(FORM_TYPE) && operation.requestBody?.content[FORM_TYPE]
        ? { ...body, status: undefined }
        : body,
    )
    .map(
      ({ what, type, bytes, status }): RequestCase => ({
        description: `a body of ${what}`,
        mustBeRefused: true,
        status,
        url,
        headers: type === undefined ? {} : { 'Content-Type': type },
        body: bytes,
      }),
    )
  const asList = toRawJson([toFirstBody(sample)])
  return [...bad, { description: 'a list of texts', mustBeRefused: true, url, body: asList }]
}
