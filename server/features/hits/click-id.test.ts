import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createClickIds } from './click-id.ts'
import { toHitId } from './spool/record-format.ts'

const NODE = '0123456789abcdef'
const SECRET = 's'.repeat(32)
const WORKSPACE = 12
const ids = createClickIds(SECRET, NODE)
const write = (id: number, linkId = 7) => ids.sign({ id, linkId, workspaceId: WORKSPACE })
const read = (text: string) => ids.verify(text, WORKSPACE)

describe('a click id', () => {
  test('gives back its hit and its link, for every possible value', () => {
    const any = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(any, any, any, (id, linkId, workspaceId) => {
        const text = ids.sign({ id, linkId, workspaceId })
        expect(ids.verify(text, workspaceId)).toEqual({ id, node: NODE, linkId })
      }),
    )
    expect(read(write(toHitId(2 ** 30 - 1, 64 * 1024 * 1024 - 8)))).toBeDefined()
  })

  test('needs no encoding in a URL', () => {
    expect(write(toHitId(1, 64))).toMatch(/^[0-9A-Za-z._-]+$/)
  })

  test('is verified by any process with the same secret, whatever its node', () => {
    expect(createClickIds(SECRET, 'f'.repeat(16)).verify(write(5), WORKSPACE)).toEqual({
      id: 5,
      node: NODE,
      linkId: 7,
    })
  })

  test('is rejected under another secret, and for another workspace', () => {
    expect(createClickIds('t'.repeat(32), NODE).verify(write(5), WORKSPACE)).toBeUndefined()
    expect(ids.verify(write(5), WORKSPACE + 1)).toBeUndefined()
    // A digit must not move from the id to the workspace.
    expect(ids.verify(write(5), 1)).toBeUndefined()
  })

  test('is rejected when any character is changed', () => {
    const text = write(123_456_789)
    for (let i = 0; i < text.length; i++) {
      for (const other of 'a0Z-_.') {
        const forged = text.slice(0, i) + other + text.slice(i + 1)
        if (forged !== text) expect([forged, read(forged)]).toEqual([forged, undefined])
      }
    }
  })

  test('is rejected when cut, extended, or given another signature', () => {
    const text = write(1)
    const signature = text.split('.').at(-1)
    for (const forged of [
      '',
      text.slice(0, -1),
      `${text}A`,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      `2.7.${NODE}.${signature}`,
      `1.8.${NODE}.${signature}`,
      `1.7.${'f'.repeat(16)}.${signature}`,
      `1.7.${NODE}.${'é'.repeat(10)}`,
    ]) {
      expect([forged, read(forged)]).toEqual([forged, undefined])
    }
  })

  test('that is made up is rejected, and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => read(text) === undefined))
  })
})
