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

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const PDF_LATE = Buffer.concat([latin1('\x1b%-12345X\0'), Buffer.alloc(1024 - 10, 1), latin1('%PDF-1.4\n')])
const TIFF_LATE = Buffer.concat([
  Buffer.from('49492a0000900000', 'hex'),
  Buffer.alloc(0x9000, 7),
  Buffer.from([1, 0]),
])
const PNG_PROFILE = Buffer.concat([
  PNG.subarray(0, 33),
  Buffer.from('00009c40', 'hex'),
  latin1('iCCP'),
  Buffer.alloc(40_004),
  PNG.subarray(33),
])

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
    ['text in windows-1252', latin1('Stra\xdfe; \x80 5'), 'text/plain'],
    ['text in Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a]), 'text/plain'],
    ['text with the end mark of DOS', latin1('a;\x81\r\n\x1a'), 'text/plain'],
    ['UTF-16 as Excel writes it', Buffer.from('\ufeffa\tü\r\n', 'utf16le'), 'text/plain'],
    ['UTF-16 the other way round', Buffer.from('\ufeffa你\n', 'utf16le').swap16(), 'text/plain'],
    ['UTF-16 without a mark', Buffer.from('name;age\nZoë;7', 'utf16le'), 'text/plain'],
    ['UTF-8 with a mark', '\ufeffa;b', 'text/plain'],
    ['small numbers of two bytes', Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]), 'application/octet-stream'],
    ['half a pair of UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xdc, 0x61, 0x00]), 'application/octet-stream'],
    ['bytes that are no text', Buffer.from([0x61, 0xff, 0x02, 0x62]), 'application/octet-stream'],
    ...Object.entries({
      BM: 'W 3 series',
      MZ: ' 2024',
      FWS: ' report',
      CWS: ';1',
      FLV: ', notes',
      BZh: 'a',
      ID3: ' tags',
      II: ' World War',
      FORM: ' 12b',
      'The free': ' offer',
      'solid ': 'oak table',
      '8BPS': '',
      icns: '',
      'MP+': '3',
      AC1014: ' room',
      '070707': ' 1',
      'Extended Module:': ' 7',
      '#!AMR': '',
      OggS: '',
    }).map(([start, rest]): [string, string, string] => [
      `text that begins with ${start}`,
      start + rest,
      'text/plain',
    ]),
    ['text in windows-1252 that begins with BM', latin1('BM\xfcller;1'), 'text/plain'],
    [
      'a bitmap',
      Buffer.concat([Buffer.from('BM'), Buffer.from([70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0])]),
      'image/bmp',
    ],
    ['a program', EXE, 'application/x-msdownload'],
    ['a Flash film', latin1('FWS\x05\x10\0\0\0x'), 'application/x-shockwave-flash'],
    ['a model as text', 'solid cube\nfacet normal 0 0 1\n', 'model/stl'],
    ['a note in RTF', '{\\rtf1 a}', 'application/rtf'],
    ['XML', '<?xml version="1.0"?><a/>', 'application/xml'],
    ['a PDF behind a preamble', PDF_LATE, 'application/pdf'],
    ['a PDF behind a warning', '<b>Warning</b>\n%PDF-1.4\n1 0 obj\n', 'application/pdf'],
    ['a PDF behind a mark of UTF-8', '\ufeff%PDF-1.4\n', 'application/pdf'],
    [
      'a PDF that comes too late',
      Buffer.concat([Buffer.alloc(1025), latin1('%PDF-1.4')]),
      'application/octet-stream',
    ],
    ['a text about PDF', 'A file begins with %PDF-1.7.', 'text/plain'],
    ['a TIFF with its index at the end', TIFF_LATE, 'image/tiff'],
    ['a PNG with a large profile', PNG_PROFILE, 'image/png'],
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
    [['.docx'], 'protected.docx', CFB, true],
    [['.xlsx'], 'protected.xlsx', CFB, true],
    [
      ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
      'protected.pptx',
      CFB,
      true,
    ],
    [['.odt'], 'cv.odt', CFB, false],
    [['.doc'], 'cv.doc', '{\\rtf1 a}', true],
    [['.csv'], 'bmw.csv', 'BMW;MZ', true],
    [['.csv'], 'list.csv', latin1('Stra\xdfe;1'), true],
    [['.txt'], 'list.txt', Buffer.from('\ufeffa', 'utf16le'), true],
    [['text/*'], 'list.csv', latin1('Stra\xdfe;1'), true],
    [['text/*'], 'list.xml', '<?xml version="1.0"?><a/>', true],
    [['text/*'], 'list.txt', EXE, false],
    [['application/csv'], 'list.csv', 'a,b', true],
    [['image/*'], 'me.bmp', 'BMW', false],
    [['.bmp'], 'me.bmp', 'BMW', false],
    [['.pdf'], 'scan.pdf', PDF_LATE, true],
    [['.pdf'], 'about.pdf', 'A file begins with %PDF-1.7.', false],
    [['.tif'], 'scan.tif', TIFF_LATE, true],
    [['image/tiff'], 'scan', TIFF_LATE, true],
    [['.nef'], 'photo.nef', TIFF_LATE, true],
    [['.stl'], 'cube.stl', 'solid cube\nfacet normal 0 0 1\n', true],
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
