import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { readCard } from './read-card.ts'

const NOTHING = { title: null, description: null, image: null, siteName: null, baseHref: undefined }

describe('the card of a page', () => {
  test.each([
    ['', {}],
    ['<title> The\n page </title>', { title: 'The page' }],
    ['<title>a &amp; b &lt;i&gt;</title>', { title: 'a & b <i>' }],
    ['<title></title><title>second</title>', {}],
    ['<svg><title>picture</title></svg><title>page</title>', { title: 'page' }],
    [
      '<title><meta property="og:title" content="no"></title>',
      { title: '<meta property="og:title" content="no">' },
    ],
    ['<title>page</title><meta property="og:title" content="card">', { title: 'card' }],
    ['<meta name="twitter:title" content="x"><meta property="og:title" content="og">', { title: 'og' }],
    ['<meta name="twitter:title" content="x">', { title: 'x' }],
    ['<meta property=og:title content=first><meta property=og:title content=second>', { title: 'first' }],
    ['<meta property=og:title content=" "><title>page</title>', { title: 'page' }],
    ['<META NAME=OG:TITLE CONTENT=Loud>', { title: 'Loud' }],
    ['<meta name=description content="for &quot;search&quot;">', { description: 'for "search"' }],
    ['<meta name=description content=a><meta property=og:description content=b>', { description: 'b' }],
    [
      '<meta property=og:image content=/a.png><base href=https://cdn.example/>',
      { image: '/a.png', baseHref: 'https://cdn.example/' },
    ],
    [
      '<meta property=og:image:secure_url content=https://x/b><meta property=og:image content=http://x/a>',
      { image: 'https://x/b' },
    ],
    ['<meta name=twitter:image content=https://x/t>', { image: 'https://x/t' }],
    ['<meta property=og:site_name content=Site>', { siteName: 'Site' }],
    ['<script>document.write(`<meta property="og:title" content="no">`)</script>', {}],
    ['<!-- <meta property="og:title" content="no"> -->', {}],
    ['<meta property="og:title" content="a&#0;b&#x7;c\n\td">', { title: 'a\ufffdb c d' }],
    ['<meta property=og:title', {}],
  ])('%p', async (html, card) => {
    expect(await readCard(html)).toEqual({ ...NOTHING, ...card })
  })

  test('is read from any text, and has no text that a store cannot hold', async () => {
    const tags = ['<meta property="og:title" content="', '">', '<title>', '</title>', '<svg>']
    const parts = [...tags, '\0', '\ud800', 'a', ' ', '&#0;']
    const html = fc.array(fc.constantFrom(...parts)).map((list) => list.join(''))
    await fc.assert(
      fc.asyncProperty(html, async (text) => {
        const { title } = await readCard(text)
        expect(title === null || (title !== '' && title.isWellFormed() && !title.includes('\0'))).toBe(true)
      }),
      { numRuns: atScale({ quick: 60, full: 300, soak: 300 }) },
    )
  })

  test('comes quickly also from a hostile page', async () => {
    const pieces = [
      '<title>',
      '<svg>',
      '<meta property="og:title" content=">',
      '<b ',
      '&',
      '<title>x</title>',
    ]
    for (const piece of pieces) {
      const html = piece.repeat((atScale({ quick: 64, full: 512, soak: 512 }) * 1024) / piece.length)
      expect([piece, (await measureProcessorMs(() => readCard(html))) < 2_000]).toEqual([piece, true])
    }
  })
})
