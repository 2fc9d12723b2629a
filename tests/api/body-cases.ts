// Bodies with one thing wrong: every field the document knows, at every depth, and bodies that are wrong as a whole.

import { type Case, type Pick, show } from './case.ts'
import { bodySchema, type Operation, resolved, type Schema, violations } from './document.ts'
import {
  asRead,
  BAD_BODIES,
  BAD_URLS,
  jsonOf,
  LONE_SURROGATES,
  LONG_TEXT,
  NUL,
  named,
  ODD_TEXTS,
  ODD_VALUES,
  UNKNOWN_NAMES,
} from './hostile.ts'
import { bodyIsBad } from './judge.ts'
import { firstBody, type Sample, urlOf } from './samples.ts'

export const bodyCases = (operation: Operation, sample: Sample, pick: Pick): Case[] => [
  ...fieldCases(operation, sample, pick),
  ...wholeBodies(operation, sample, pick),
]

interface Place {
  at: (string | number)[]
  schema: Schema
  /** Does the document know every name of this object? */
  closed: boolean
}

/** Every field of a body, at every depth; of several forms of a body the one that `value` has. */
function placesOf(written: Schema, value: unknown, at: Place['at'] = []): Place[] {
  const schema = resolved(written)
  const branch = schema.anyOf?.find((each) => value !== undefined && violations(each, value).length === 0)
  if (branch && (at.length === 0 || typeof value === 'object')) return placesOf(branch, value, at)
  const own = { at, schema, closed: schema.additionalProperties === false }
  const inner = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, each] as const)
  const first = Array.isArray(value) && value.length > 0 ? value[0] : undefined
  const given = (name: string) => (value as Record<string, unknown> | undefined)?.[name]
  return [
    own,
    ...inner.flatMap(([name, each]) => placesOf(each, given(name), [...at, name])),
    ...(schema.items ? placesOf(schema.items, first, [...at, 0]) : []),
    ...(typeof schema.additionalProperties === 'object'
      ? placesOf(schema.additionalProperties, undefined, [...at, 'DE'])
      : []),
  ]
}

/** A copy with `value` at the place, making what leads there. */
function withValue(body: unknown, [step, ...rest]: Place['at'], value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const list = Array.isArray(body) ? body : []
    return [...list.slice(0, step), withValue(list[step], rest, value), ...list.slice(step + 1)]
  }
  const object = typeof body === 'object' && body !== null ? body : {}
  const inner = withValue((object as Record<string, unknown>)[step], rest, value)
  return { ...object, ...named(step, inner) }
}

function fieldCases(operation: Operation, sample: Sample, pick: Pick): Case[] {
  const schema = bodySchema(operation) as Schema
  const url = urlOf(operation, sample)
  return (sample.bodies ?? []).flatMap((body, form) =>
    // A link's fields are in five operations, and in each form of their bodies.
    pick(placesOf(schema, body), form === 0 ? 16 : 5).flatMap((place) => {
      const { at, schema: own, closed } = place
      const name = String(at.findLast((step) => typeof step === 'string') ?? '')
      const bent = (value: unknown): Case => {
        const whole = withValue(body, at, value)
        const bad = bodyIsBad(schema, asRead(whole), name, asRead(value))
        return { what: `${at.join('.') || 'body'}: ${show(value)}`, bad, url, body: jsonOf(whole) }
      }
      const unknown = (field: string): Case => ({
        what: `${at.join('.') || 'body'} with the unknown field ${show(field)}`,
        bad: true,
        status: 422,
        url,
        body: jsonOf(withValue(body, [...at, field], 1)),
      })
      const values = at.length === 0 ? pick(ODD_VALUES, 8) : valuesFor(own, pick)
      return [...values.map(bent), ...(closed ? pick(UNKNOWN_NAMES, 2).map(unknown) : [])]
    }),
  )
}

function valuesFor(schema: Schema, pick: Pick): unknown[] {
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

function wholeBodies(operation: Operation, sample: Sample, pick: Pick): Case[] {
  const url = urlOf(operation, sample)
  // One reader of bodies serves all operations: together they meet each of these.
  const bad = pick(BAD_BODIES, 10)
    // Of a PATCH, no body at all is an empty one: it changes nothing (contract §1).
    .filter(({ what }) => !(operation.method === 'PATCH' && what === 'nothing'))
    .map(
      ({ what, type, bytes, status }): Case => ({
        what: `a body of ${what}`,
        bad: true,
        status,
        url,
        headers: type === undefined ? {} : { 'Content-Type': type },
        body: bytes,
      }),
    )
  const asList = jsonOf([firstBody(sample)])
  return [...bad, { what: 'a list of texts', bad: true, url, body: asList }]
}
