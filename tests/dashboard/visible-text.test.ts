import { expect, test } from 'bun:test'
import { toVisibleText } from '../../dashboard/ui/visible-text.ts'

test('characters that nobody sees, or that change the order of others, get a name', () => {
  for (const [text, shown] of [
    ['summer-sale', 'summer-sale'],
    ['a\u200bb', 'a[U+200B]b'],
    ['\u202eelas', '[U+202E]elas'],
    ['a\u00adb\u034f', 'a[U+00AD]b[U+034F]'],
    ['a b\n', 'a[U+0020]b[U+000A]'],
    ['\ud800', '\ufffd'],
    ['a\u200db', 'a[U+200D]b'],
    ['\u{e0041}', '[U+E0041]'],
    ['👩‍💻', '👩‍💻'],
    ['👩🏽‍💻', '👩🏽‍💻'],
    ['❤️', '❤️'],
    ['ab\u05d0', 'ab\u05d0'],
  ])
    expect(toVisibleText(text as string)).toBe(shown as string)
})
