// Accepted files of a form: from bytes in chunks to a detected type, and from type and name to the rules.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isAccepted } from './accepted-type.ts'
import { createTypeSniffer } from './sniff-type.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')
const ZIP = Buffer.from(
  '504b0304140000000000000000000000000000000000000000000500000078782e747874504b0506000000000100010033000000230000000000',
  'hex',
)
const CFB = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)])
const EXE = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)])

async function sniff(bytes: Uint8Array | string, chunk = 1_000) {
  const sniffer = createTypeSniffer()
  const all = Buffer.from(bytes as string)
  for (let at = 0; at < all.length; at += chunk) {
    // As the endpoint does: the chunk's memory is used again.
    const part = Buffer.from(all.subarray(at, at + chunk))
    sniffer.add(part)
    part.fill(0)
  }
  return sniffer.finish()
}

describe('the type of a file is what its bytes show', () => {
  test.each<[string, Uint8Array | string, string]>([
    ['a picture', PNG, 'image/png'],
    ['a document', '%PDF-1.7\n', 'application/pdf'],
    ['text', 'name,age\nAda,36\n', 'text/plain'],
    ['text beyond ASCII', 'Grüße 你好 🚲', 'text/plain'],
    ['nothing', '', 'text/plain'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'text/plain'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'text/plain'],
    ['text with a NUL', 'a\0b', 'application/octet-stream'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'application/octet-stream'],
    ['text that ends in half a character', Buffer.from([0x61, 0xc3]), 'application/octet-stream'],
    [
      'a picture that is also a page',
      Buffer.concat([Buffer.from('GIF89a/*'), Buffer.from('*/<script>')]),
      'image/gif',
    ],
  ])('%s', async (_, bytes, type) => {
    for (const chunk of [1, 3, 1_000]) expect((await sniff(bytes, chunk)).type).toBe(type)
  })

  test('text is text however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, chunk) => {
          const { type } = await sniff(`text: ${text.replaceAll('\0', '')}`, chunk)
          expect(type).toBe('text/plain')
        },
      ),
    )
  })
})

describe('a form accepts', () => {
  test.each<[string[], string, Uint8Array | string, boolean]>([
    [[], 'anything.exe', EXE, true],
    [['image/*'], 'me.png', PNG, true],
    [['image/*'], 'me.png', '<script>', false],
    [['image/*'], 'me.svg', '<svg/>', false],
    [['image/svg+xml'], 'me.svg', '<svg/>', true],
    [['.svg'], 'me.svg', '<svg/>', true],
    [['image/jpg'], 'no-ending', JPEG, true],
    [['.jpg'], 'a.JPG', JPEG, true],
    [['.jpg'], 'a.jpeg', JPEG, false],
    [['.jpeg', '.jpg'], 'a.jpeg', JPEG, true],
    [['.jpg'], 'a.jpg', PNG, false],
    [['.pdf'], 'cv.pdf', '%PDF-1.7\n', true],
    [['.pdf'], 'cv.txt', '%PDF-1.7\n', false],
    [['.pdf'], 'cv.pdf', EXE, false],
    [['.pdf'], 'cv.pdf', 'text', false],
    [['application/pdf'], 'cv', '%PDF-1.7\n', true],
    [['.csv'], 'list.csv', 'a,b', true],
    [['.csv'], 'list.csv', ZIP, false],
    [['text/csv'], 'list.csv', 'a,b', true],
    [['text/csv'], 'list.txt', 'a,b', false],
    [['text/*'], 'list.txt', 'a,b', true],
    [['.docx'], 'cv.docx', ZIP, true],
    [['.docx'], 'cv.docx', 'text', false],
    [['.doc'], 'cv.doc', CFB, true],
    [['application/msword'], 'cv.doc', CFB, true],
    [['application/msword'], 'cv.exe', CFB, false],
    [['.pages'], 'cv.pages', ZIP, true],
    [['.drawing'], 'plan.drawing', Buffer.from([1, 0, 2, 255]), true],
    [['.drawing'], 'plan.drawing', EXE, false],
    [['*/*'], 'x', EXE, true],
  ])('%p: %p', async (accept, name, bytes, expected) => {
    expect(isAccepted(accept, { ...(await sniff(bytes)), name })).toBe(expected)
  })
})
