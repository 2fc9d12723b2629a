import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { orderedJson } from './ordered-json.ts'

test('writes a Map as an object in its own order', () => {
  const fields = new Map([
    ['b', '1'],
    ['10', '2'],
    ['__proto__', '3'],
    ['2', '4'],
  ])
  expect(orderedJson({ data: [{ fields, none: null, gone: undefined }] })).toBe(
    '{"data":[{"fields":{"b":"1","10":"2","__proto__":"3","2":"4"},"none":null}]}',
  )
})

test('is JSON.stringify for everything else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(orderedJson(value)).toBe(JSON.stringify(value))
    }),
  )
})
