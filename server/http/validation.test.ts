import { describe, expect, test } from 'bun:test'
import { z } from '@hono/zod-openapi'
import { Failure } from '../lib/failure.ts'
import { fieldErrors, refuseBrokenQuery, refuseInvalid } from './validation.ts'

const Link = z.strictObject({
  url: z.string('must be a string'),
  geo: z.record(z.string(), z.string('must be a string')).optional(),
})
const Links = z.union([z.array(Link), z.strictObject({ links: z.array(Link) })], {
  error: 'must be a list of links',
})

const errorsOf = (schema: z.ZodType, value: unknown, what: 'field' | 'parameter' = 'field') => {
  const { success, error } = schema.safeParse(value)
  return success ? {} : fieldErrors(error?.issues as never, what)
}

test.each([
  ['a wrong field', Link, { url: 1 }, { url: 'must be a string' }],
  ['a deep place', Link, { url: 'a', geo: { DE: 1 } }, { 'geo.DE': 'must be a string' }],
  [
    'unknown names, each',
    Link,
    { url: 'a', x: 1, y: 2 },
    { x: 'is not a known field', y: 'is not a known field' },
  ],
  [
    'unknown names that every object has',
    Link,
    { url: 'a', constructor: 1, toString: 2 },
    { constructor: 'is not a known field', toString: 'is not a known field' },
  ],
  ['an item of a list by its index', Links, [{ url: 'a' }, { url: 1 }], { '1.url': 'must be a string' }],
  ['the same in its envelope', Links, { links: [{ url: 'a' }, { url: 1 }] }, { '1.url': 'must be a string' }],
  ['an unknown name in an item', Links, [{ url: 'a', x: 1 }], { '0.x': 'is not a known field' }],
  ['something else altogether', Links, 7, { body: 'must be a list of links' }],
])('reports %s', (_, schema, value, expected) => {
  expect(errorsOf(schema as z.ZodType, value)).toEqual(expected as never)
})

test('calls an unknown parameter a parameter', () => {
  expect(errorsOf(z.strictObject({}), { x: '1' }, 'parameter')).toEqual({ x: 'is not a known parameter' })
})

test('accepts valid input, and throws a Failure that starts with the first message', () => {
  expect(refuseInvalid({ success: true })).toBeUndefined()
  const refused = Link.safeParse({ url: 1, x: 1 })
  const refuse = () => refuseInvalid({ ...refused, target: 'json' })
  expect(refuse).toThrow(Failure)
  expect(refuse).toThrow('url: must be a string')
})

describe('a query that the router would accept silently', () => {
  test.each([
    ['?=1', 'query: has a parameter without a name'],
    ['?a=1&=', 'query: has a parameter without a name'],
    ['?search=%', 'search: is not percent-encoded UTF-8'],
    ['?search=%zz', 'search: is not percent-encoded UTF-8'],
    ['?a=1&search=%C3%28', 'search: is not percent-encoded UTF-8'],
    ['?search=%ED%A0%80', 'search: is not percent-encoded UTF-8'],
    ['?%FF=1', 'query: is not percent-encoded UTF-8'],
  ])('%s is refused', (query, message) => {
    expect(() => refuseBrokenQuery(`http://a/v1/links${query}`)).toThrow(message)
  })

  test.each([
    '',
    '?',
    '?a=1&',
    '?&a=1',
    '?a',
    '?a=',
    '?a==',
    '?a=b+c%20d',
    '?a=%F0%9F%8E%88',
    '?a=%00',

    '?a#?=',
  ])('%s is accepted', (query) => {
    refuseBrokenQuery(`http://a/v1/links${query}`)
  })
})
