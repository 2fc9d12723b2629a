import { describe, expect, test } from 'bun:test'
import { z } from '@hono/zod-openapi'
import { flag, idList, instant, numberParameter, oneOf, parameter, text, wholeNumber } from './api-fields.ts'

const problem = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message

const UNCLEAN = 'must not contain NUL or broken Unicode characters'
const TIME = 'must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z'

describe('messages for wrong values', () => {
  test.each([
    ['is required', undefined, text(1, 3)],
    ['must be a string', 5, text(1, 3)],
    ['must not be empty', '', text(1, 3)],
    ['must be at most 3 characters', 'abcd', text(1, 3)],
    ['must be at most 3 characters', '🙂🙂🙂🙂', text(1, 3)],
    [UNCLEAN, 'a\0', text(1, 3)],
    [UNCLEAN, '\ud83d', text(1, 3)],
    ['must have at least one item', [], z.array(flag()).min(1)],
    ['must be at least 2 entries', [true], z.array(flag()).min(2)],
    ['is required', undefined, flag()],
    ['must be true or false', 'true', flag()],
    ['must be at least 1', 0, wholeNumber(1)],
    ['must be at most 9', 10, wholeNumber(1, 9)],
    ['must be a whole number', 1.5, wholeNumber(1)],
    ['must be a whole number', '1', wholeNumber(1)],
    ['must be a whole number', 2 ** 53, wholeNumber(1)],
    [TIME, '2026-01-31', instant()],
    [TIME, '2026-01-31T12:00:00', instant()],
    [TIME, '2026-02-30T12:00:00Z', instant()],
    [TIME, 1_700_000_000_000, instant()],
    ['must be from 1 to 100', '0', numberParameter(1, 100)],
    ['must be from 1 to 100', '101', numberParameter(1, 100)],
    ['must be a whole number', '1e1', numberParameter(1, 100)],
    ['must be given once', ['1', '2'], numberParameter(1, 100)],
    ['is required', undefined, numberParameter(1, 100)],
    ['must be at most 3 characters', 'abcd', parameter(3)],
    [UNCLEAN, 'a\0', parameter(3)],
    ['must be given once', ['a', 'b'], parameter(3)],
    ['is required', undefined, parameter(3)],
    ['must be one of a, b', 'c', oneOf(['a', 'b'])],
    ['is required', undefined, idList(2)],
    ['must be ids separated by commas', '', idList(2)],
    ['must be ids separated by commas', '1,x', idList(2)],
    ['must be at most 2 ids', '1,2,3', idList(2)],
  ])('%s: %p', (words, value, schema) => {
    expect(problem(schema, value)).toBe(words)
  })
})

test('counts characters as people do', () => {
  expect(text(1, 3).parse('🙂🙂🙂')).toBe('🙂🙂🙂')
  expect(parameter(3).parse('🙂🙂🙂')).toBe('🙂🙂🙂')
})

test('accepts ids as one list, repeated, or both', () => {
  expect(idList(5).parse('1,2')).toEqual([1, 2])
  expect(idList(5).parse(['1,2', '3'])).toEqual([1, 2, 3])
})

test('accepts an instant in any zone', () => {
  for (const moment of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123+05:30'])
    expect(instant().parse(moment)).toBe(moment)
})
