import { describe, expect, test } from 'bun:test'
import { createSealer, createTextSealer } from './sealing.ts'

const SECRET = 'the secret of this installation'
const OWNER = '1/2'
const sealer = createTextSealer(SECRET, 'towpath test')

describe('a sealed text', () => {
  test.each(['', 'whsec_canary', '{"ü":"🎈"}', 'x'.repeat(100_000)])('opens for its owner (%#)', (plain) => {
    expect(sealer.open(sealer.seal(plain, OWNER), OWNER)).toBe(plain)
  })

  test('is unreadable, and different each time', () => {
    const sealed = sealer.seal('whsec_canary', OWNER)
    expect(Buffer.from(sealed.slice(2), 'base64url').toString('latin1')).not.toContain('canary')
    const beginnings = Array.from({ length: 1000 }, () => sealer.seal('same', OWNER).slice(0, 18))
    expect(new Set(beginnings).size).toBe(1000)
  })

  test.each<[string, (sealed: string) => string | undefined]>([
    ['for another owner', (sealed) => sealer.open(sealed, '1/3')],
    ['for no owner', (sealed) => sealer.open(sealed, '')],
    ['with another secret', (sealed) => createTextSealer('another', 'towpath test').open(sealed, OWNER)],
    ['for another purpose', (sealed) => createTextSealer(SECRET, 'towpath other').open(sealed, OWNER)],
    [
      'when its end is another',
      (sealed) =>
        sealer.open(`${sealed.slice(0, -2)}${sealed.at(-2) === 'A' ? 'B' : 'A'}${sealed.at(-1)}`, OWNER),
    ],
    ['when it is cut', (sealed) => sealer.open(sealed.slice(0, 20), OWNER)],
    ['in another version', (sealed) => sealer.open(`2.${sealed.slice(2)}`, OWNER)],
    ['when it is empty', () => sealer.open('', OWNER)],
    ['when it is plain JSON', () => sealer.open('{"data":1}', OWNER)],
  ])('does not open %s', (_, open) => {
    expect(open(sealer.seal('whsec_canary', OWNER))).toBeUndefined()
  })
})

test('a shortened tag is refused: Node would take four bytes of it', () => {
  const { seal, open } = createSealer(SECRET, 'towpath test')
  const parts = seal(Buffer.from('plain'))
  expect(open(parts)?.toString()).toBe('plain')
  expect(open({ ...parts, tag: parts.tag.subarray(0, 4) })).toBeUndefined()
})
