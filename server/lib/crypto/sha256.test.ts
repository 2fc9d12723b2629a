import { expect, test } from 'bun:test'
import { sha256Hex } from './sha256.ts'

test('hashes "abc" as FIPS 180-2 appendix B.1 says', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
