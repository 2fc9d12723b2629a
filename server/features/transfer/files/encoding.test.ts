import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { createDecoding, InvalidByte, recognizeEncoding } from './encoding.ts'
import type { FileEncoding } from './source-file.ts'

const swap = (bytes: Buffer) => Buffer.from(bytes).swap16()
const ENCODE: Record<FileEncoding, (text: string) => Buffer> = {
  'utf-8': (text) => Buffer.from(text, 'utf8'),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text) => swap(Buffer.from(text, 'utf16le')),
  // é, ü, € and curly quotes.
  'windows-1252': (text) => Buffer.from([...text].map((char) => WINDOWS_1252[char] ?? char.charCodeAt(0))),
}
const WINDOWS_1252: Record<string, number> = { '€': 0x80, '“': 0x93, '”': 0x94 }

function decode(bytes: Uint8Array, encoding: FileEncoding, cuts: number[] = []) {
  const decoding = createDecoding(encoding)
  let text = ''
  let start = 0
  for (const cut of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    text += decoding.decode(bytes.subarray(start, cut))
    start = cut
  }
  decoding.end()
  return text
}

describe('the encoding of a file', () => {
  test.each([
    ['plain', Buffer.from('url,title\n'), 'utf-8'],
    ['UTF-8', Buffer.from('url,Größe\n'), 'utf-8'],
    ['UTF-8 with a mark', Buffer.from('\ufeffurl,title\n'), 'utf-8'],
    ['UTF-16 LE with a mark', ENCODE['utf-16le']('\ufeffurl\n'), 'utf-16le'],
    ['UTF-16 BE with a mark', ENCODE['utf-16be']('\ufeffurl\n'), 'utf-16be'],
    ['UTF-16 LE', ENCODE['utf-16le']('url,Größe\n'), 'utf-16le'],
    ['UTF-16 BE', ENCODE['utf-16be']('url,Größe\n'), 'utf-16be'],
    ['Windows-1252', ENCODE['windows-1252']('url,Größe “x” 5 €\n'), 'windows-1252'],
    // The rest of the accents would be nonsense if one byte decided.
    [
      'UTF-8 with a wrong byte',
      Buffer.concat([Buffer.from('Größe, Maße'), Buffer.from([0xe9]), Buffer.from(',\n')]),
      'utf-8',
    ],
  ] as const)('is recognized: %s', (_, bytes, encoding) => {
    expect(recognizeEncoding(bytes, true)).toBe(encoding)
  })

  test('does not depend on where the start of a large file is cut', () => {
    const bytes = Buffer.from('Größe €😀'.repeat(20))
    for (let end = 1; end < bytes.length; end++)
      expect(recognizeEncoding(bytes.subarray(0, end), false)).toBe('utf-8')
  })

  test('gives the text back, in pieces of any size, without the mark', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom('utf-8', 'utf-16le', 'utf-16be', 'windows-1252')
          .chain((encoding) =>
            fc.tuple(
              fc.constant(encoding as FileEncoding),
              encoding === 'windows-1252'
                ? fc.string({ unit: fc.constantFrom('a', 'é', 'ÿ', '€', '“') })
                : fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('\ufeff')),
            ),
          ),
        fc.boolean(),
        fc.array(fc.nat()),
        ([encoding, text], hasMark, cuts) => {
          const mark = hasMark && encoding !== 'windows-1252' ? '\ufeff' : ''
          expect(decode(ENCODE[encoding](mark + text), encoding, cuts)).toBe(text)
        },
      ),
      { numRuns: atScale({ full: 1_000, soak: 20_000 }) },
    )
  })

  test('never has a byte replaced', () => {
    const someBytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .array(fc.constantFrom(0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0xd8, 0x81))
        .map((bytes) => Uint8Array.from(bytes)),
    )
    fc.assert(
      fc.property(
        someBytes,
        fc.constantFrom<FileEncoding>('utf-8', 'utf-16le', 'utf-16be', 'windows-1252'),
        fc.array(fc.nat()),
        (bytes, encoding, cuts) => {
          let text: string
          try {
            text = decode(bytes, encoding, cuts)
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidByte)
            return
          }
          if (encoding === 'windows-1252') return
          const mark = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes).startsWith('\ufeff')
            ? '\ufeff'
            : ''
          expect(ENCODE[encoding](mark + text).equals(bytes)).toBe(true)
        },
      ),
      { numRuns: atScale({ full: 2_000, soak: 50_000 }) },
    )
  })

  test.each([
    [[0x61, 0xe9, 0x62], 'utf-8', 'byte 0xE9 is no UTF-8. Save the file as UTF-8.', 'a'],
    [[0x61, 0x81], 'windows-1252', 'byte 0x81 is no Windows-1252. Save the file as UTF-8.', 'a'],
    [[0xc3, 0xa9, 0xc3, 0x28], 'utf-8', 'byte 0xC3 is no UTF-8. Save the file as UTF-8.', 'é'],
  ] as const)('names a byte that is wrong: %j', (bytes, encoding, message, before) => {
    const decoding = createDecoding(encoding)
    expect(() => decoding.decode(Uint8Array.from(bytes))).toThrow(message)
    expect(decoding.beforeError()).toBe(before)
  })
})
