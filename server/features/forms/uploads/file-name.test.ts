import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { toHarmlessName } from './file-name.ts'

test.each([
  ['report.pdf', 'report.pdf'],
  ['C:\\Users\\me\\cv.docx', 'cv.docx'],
  ['../../etc/passwd', 'passwd'],
  ['/', 'file'],
  ['..', 'file'],
  ['', 'file'],
  ['...hidden', 'hidden'],
  ['trailing. . ', 'trailing'],
  ['CON.txt', '_CON.txt'],
  ['a\r\nX-Evil: 1.txt', 'aX-Evil_ 1.txt'],
  ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
  ['a\u200Bb\u0000c.txt', 'abc.txt'],
  ['<img src=x onerror=y>.png', '_img src=x onerror=y_.png'],
  ['e\u0301.txt', 'é.txt'],
])('%p is stored as %p', (given, stored) => {
  expect(toHarmlessName(given)).toBe(stored)
})

test('any name becomes one that no path, header, screen or file system takes for more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (given) => {
      const name = toHarmlessName(given)
      expect(name).not.toMatch(
        /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}/\\<>:"|?*\u202a-\u202e\u2066-\u2069]|^[. ]|[. ]$|^$/u,
      )
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(toHarmlessName(name)).toBe(name)
    }),
  )
})
