import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { scanJson } from './json-limits.ts'

const LIMITS = { depth: 4, values: 20, entries: 8 }
const scan = (text: string) => scanJson(text, LIMITS)
const excessOf = (text: string) => scan(text).excess

describe('the limits of JSON text', () => {
  test.each([
    ['1', undefined],
    ['[[[[]]]]', undefined],
    ['[[[[[]]]]]', 'depth'],
    ['{"a":{"a":{"a":{"a":[]}}}}', 'depth'],
    ['"[[[[[[[["', undefined],
    ['"\\"[[[[[[[["', undefined],
    ['"\\\\",[[[[[', 'depth'],
    ['[1,2,3,4,5,6,7,8]', undefined],
    ['[1,2,3,4,5,6,7,8,9]', 'entries'],
    ['{"a":",,,,,,,,,,,,,,,,,,,,,,,,,"}', undefined],
    ['[[1,2,3,4,5],[1,2,3,4,5]]', undefined],
    ['[[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5]]', 'values'],
  ] as const)('%s', (text, excess) => {
    expect(excessOf(text)).toBe(excess)
  })

  test('count all values of any JSON', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, inner) => sum + count(inner), 1)
        : 1
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), (value) => {
        // An empty list counts as if it had an item.
        const values = 2 * count(value)
        expect(scanJson(JSON.stringify(value), { depth: 9, values, entries: values }).excess).toBeUndefined()
        if (count(value) === 1) return
        const tooFew = { depth: 9, values: count(value) - 1, entries: 99 }
        expect(scanJson(JSON.stringify(value), tooFew).excess).toBe('values')
      }),
    )
  })

  test.each(['', '[', ']', '}}}}', '"', '"\\', '{"a', ',,', ']]],,,', '{"a":1}}}', '\\"'])(
    'end with any text: %j',
    (text) => {
      expect(() => scan(text)).not.toThrow()
    },
  )
})

describe('the name __proto__', () => {
  test.each([
    ['{"__proto__":1}', true],
    ['{"a":[{"b":{"__proto__" \n : 1}}]}', true],
    ['{"\\u005f_proto__":1}', true],
    ['{"\\u005F\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}', true],
    ['{"__proto__x":1}', false],
    ['{"a":"__proto__"}', false],
    ['["__proto__"]', false],
    ['{"constructor":1}', false],
    ['{"\\\\":1}', false],
  ])('%s', (text, names) => {
    expect(scan(text).namesProto).toBe(names)
  })
})
