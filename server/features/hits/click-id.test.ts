import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clickIds } from './click-id.ts'
import { hitId } from './spool-format.ts'

const NODE = '0123456789abcdef'
const SECRET = 's'.repeat(32)
const ids = clickIds(SECRET, NODE)

describe('A click id', () => {
  test('comes back as the place of its hit, for every place there can be', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
        expect(ids.read(ids.write(id))).toEqual({ id, node: NODE })
      }),
    )
    expect(ids.read(ids.write(hitId(2 ** 30 - 1, 64 * 1024 * 1024 - 8)))).toBeDefined()
  })

  test('needs no encoding in a URL', () => {
    expect(ids.write(hitId(1, 64))).toMatch(/^[0-9A-Za-z._-]+$/)
  })

  test('is read by any process with the same secret, whatever its own node is', () => {
    expect(clickIds(SECRET, 'f'.repeat(16)).read(ids.write(5))).toEqual({ id: 5, node: NODE })
  })

  test('is refused under another secret', () => {
    expect(clickIds('t'.repeat(32), NODE).read(ids.write(5))).toBeUndefined()
  })

  test('is refused when any character of it is another', () => {
    const text = ids.write(123_456_789)
    for (let i = 0; i < text.length; i++) {
      for (const other of 'a0Z-_.') {
        const forged = text.slice(0, i) + other + text.slice(i + 1)
        if (forged !== text) expect([forged, ids.read(forged)]).toEqual([forged, undefined])
      }
    }
  })

  test('is refused when cut, prolonged, or given another signature', () => {
    const text = ids.write(1)
    const [, , signature] = text.split('.')
    for (const forged of [
      '',
      text.slice(0, -1),
      `${text}A`,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      `2.${NODE}.${signature}`,
      `1.${'f'.repeat(16)}.${signature}`,
      `1.${NODE}.${'é'.repeat(10)}`,
    ]) {
      expect([forged, ids.read(forged)]).toEqual([forged, undefined])
    }
  })

  test('that a stranger makes up is refused and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => ids.read(text) === undefined))
  })
})
