// Text in any charset, and the names of files as programs write them: from the bytes of a request to the stored fields.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  MULTIPART_TYPE,
  nextSenderAddress,
  SCRIPT_HEADERS,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { listFileRows, UPLOADS } from '../../../../tests/support/upload-requests.ts'
import { onSqlite, type TestServer } from '../../../../tests/support/world.ts'

/** A text as written here, one byte for each character. */
const bytes = (binary: string) => Buffer.from(binary, 'latin1')
const utf8 = (text: string) => Buffer.from(text).toString('latin1')
const part = (headers: string, content = 'v') =>
  `--Bd\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${content}\r\n`
const END = '--Bd--\r\n'

async function post(server: TestServer, form: { key: string }, type: string, body: Uint8Array) {
  const response = await fetch(`${server.origin}/f/${form.key}`, {
    method: 'POST',
    body,
    headers: { 'X-Forwarded-For': nextSenderAddress(), 'Content-Type': type, ...SCRIPT_HEADERS },
  })
  return { status: response.status, text: await response.text() }
}

onSqlite(
  'a text of a form',
  (server) => {
    const sendTo = async (settings: Parameters<typeof createTestForm>[1], type: string, body: string) => {
      const form = await createTestForm(server(), settings)
      const answer = await post(server(), form, type, bytes(body))
      expect(answer).toEqual({ status: 200, text: '{"ok":true}' })
      return { form, fields: (await form.fields())[0] }
    }

    describe('is read in its charset', () => {
      const PLAIN = URLENCODED_TYPE
      test.each<[string, string, string, [string, string][]]>([
        ['UTF-8', PLAIN, 'n=%C3%A9+%F0%9F%9A%B2', [['n', 'é 🚲']]],
        ['UTF-8 that is said', `${PLAIN}; charset=UTF-8`, 'n=%C3%A9', [['n', 'é']]],
        ['raw UTF-8', PLAIN, `${utf8('ü')}=${utf8('é&').replace('&', '%26')}`, [['ü', 'é&']]],
        ['U+FFFD that was sent', PLAIN, 'n=%EF%BF%BD', [['n', '\ufffd']]],
        [
          'what a page without a charset sends',
          PLAIN,
          'n=Gr%FC%DFe+%80&m=a',
          [
            ['n', 'Grüße €'],
            ['m', 'a'],
          ],
        ],
        ['raw bytes without a charset', PLAIN, '\xfc=\xe9%26', [['ü', 'é&']]],
        ['a name in windows-1252', PLAIN, 'Stra%DFe=1', [['Straße', '1']]],
        [
          'both at once',
          PLAIN,
          'a=%C3%A9&b=%E9',
          [
            ['a', 'é'],
            ['b', 'é'],
          ],
        ],
        ['UTF-8 that is not', `${PLAIN}; charset=utf-8`, 'n=%E9', [['n', 'é']]],
        ['the header', `${PLAIN}; charset=iso-8859-2`, 'n=%B1', [['n', 'ą']]],
        ['the header in quotes', `${PLAIN};charset="KOI8-R"`, 'n=%C1', [['n', 'а']]],
        ['Latin-1 that is valid UTF-8', `${PLAIN}; charset=latin1`, 'n=%C3%A9', [['n', 'Ã©']]],
        ['an unknown label', `${PLAIN}; charset=x-nobody`, 'n=%C3%A9', [['n', 'é']]],
        ['a page in UTF-16', `${PLAIN}; charset=utf-16`, 'n=%C3%A9', [['n', 'é']]],
        ['_charset_', PLAIN, '_charset_=Shift_JIS&n=%93%FA%96%7B', [['n', '日本']]],
        ['_charset_ at the end', PLAIN, 'n=%93%FA%96%7B&_charset_=sjis', [['n', '日本']]],
        ['_CHARSET_', PLAIN, '_CHARSET_=windows-1251&n=%DE', [['n', 'Ю']]],
        ['_charset_ and another header', `${PLAIN}; charset=utf-8`, '_charset_=gbk&n=%C4%E3', [['n', '你']]],
        ['an empty _charset_', PLAIN, '_charset_=&n=%C3%A9', [['n', 'é']]],
        ['_charset_ that lies', PLAIN, '_charset_=big5&n=%E4%BD%A0a%F0%9F%9A%B2', [['n', '你a🚲']]],
        ['ISO-2022-JP', PLAIN, '_charset_=iso-2022-jp&n=%1B%24BF%7C%1B%28B', [['n', '日']]],
        [
          'characters that the charset lacks',
          PLAIN,
          '_charset_=windows-1252&n=%26%2320320%3B+%26%23128690%3B+%26%23233%3B+%26%2355357%3B+%26amp%3B',
          [['n', '你 🚲 &#233; &#55357; &amp;']],
        ],
        ['a reference that somebody typed', PLAIN, 'n=%26%2320320%3B', [['n', '&#20320;']]],
        ['JSON in Latin-1', 'application/json; charset=iso-8859-1', '{"n":"\xe9"}', [['n', 'é']]],
        [
          'JSON in UTF-16',
          'application/json; charset=utf-16le',
          '{\0"\0n\0"\0:\0"\0\xfd\x56"\0}\0',
          [['n', '国']],
        ],
        ['JSON with a byte order mark', 'application/json', '\xef\xbb\xbf{"n":"a"}', [['n', 'a']]],
        ['multipart', MULTIPART_TYPE, part('name="n"', '\xfc') + END, [['n', 'ü']]],
        ['multipart, its names', MULTIPART_TYPE, part('name="Stra\xdfe"', '') + END, [['Straße', '']]],
        [
          'multipart, UTF-8 that ends like a blank',
          MULTIPART_TYPE,
          part(`name=${utf8('à')}`, utf8('à')) + END,
          [['à', 'à']],
        ],
        [
          'multipart with _charset_ at the end',
          MULTIPART_TYPE,
          part('name="\x96\xbc"', '\x93\xfa') + part('name="_charset_"', 'shift_jis') + END,
          [['名', '日']],
        ],
        [
          'a part with a charset',
          MULTIPART_TYPE,
          part('name="a"\r\nContent-Type: text/plain; charset=koi8-r', '\xc1') +
            part('name="b"', utf8('é')) +
            part('name="c"\r\nContent-Type: text/plain;charset="utf-16le"', '\xe9\0') +
            END,
          [
            ['a', 'а'],
            ['b', 'é'],
            ['c', 'é'],
          ],
        ],
        [
          'the header of a multipart body',
          `${MULTIPART_TYPE}; charset=big5`,
          part('name="a"', '\xa7\x41') + END,
          [['a', '你']],
        ],
      ])('%s', async (_, type, body, expected) => {
        expect((await sendTo({}, type, body)).fields).toEqual(expected)
        // A form that takes files reads a multipart body in another way.
        expect((await sendTo({ uploads: UPLOADS }, type, body)).fields).toEqual(expected)
      })
    })

    test('is refused where no charset fits', async () => {
      const form = await createTestForm(server())
      for (const [type, body] of [
        [URLENCODED_TYPE, '_charset_=shift_jis&n=%93'],
        [MULTIPART_TYPE, part('name="a"\r\nContent-Type: text/plain; charset=euc-kr', '\xb0') + END],
      ] as const)
        expect(await post(server(), form, type, bytes(body))).toEqual({
          status: 400,
          text: expect.stringMatching(
            /^{"error":"The body is not in the charset (shift_jis|euc-kr), as it says"}$/,
          ),
        })
      expect(await post(server(), form, 'application/json', bytes('{"n":"\xe9"}'))).toEqual({
        status: 400,
        text: '{"error":"Invalid JSON"}',
      })
      expect(await form.fields()).toEqual([])
    })

    describe('names a file', () => {
      const base64 = (text: string) => Buffer.from(text).toString('base64')
      test.each<[string, string]>([
        // Browsers, curl, Python and Go.
        [`filename="${utf8('naïve 你.txt')}"`, 'naïve 你.txt'],
        ['filename="a%22b.txt"', 'a_b.txt'],
        ['filename="a\\"b.txt"', 'a_b.txt'],
        ['filename="100%25.txt"', '100%25.txt'],
        ['filename="50% off.txt"', '50% off.txt'],
        ['filename="my%20cv.txt"', 'my%20cv.txt'],
        ['filename=plain.txt', 'plain.txt'],
        ['\r\n\tfilename="folded\r\n name.txt"', 'folded name.txt'],
        ['filename=my cv.txt', 'my cv.txt'],
        ['filename="C:\\Users\\me\\cv.txt"', 'cv.txt'],
        // A page in windows-1252.
        ['filename="Stra\xdfe.txt"', 'Straße.txt'],
        // RFC 5987; the extended form wins wherever it stands.
        [`filename*=UTF-8''na%C3%AFve%20a.txt`, 'naïve a.txt'],
        [`filename="naive.txt"; filename*=utf-8''na%C3%AFve.txt`, 'naïve.txt'],
        [`filename*=utf-8'de'na%C3%AFve.txt; filename="naive.txt"`, 'naïve.txt'],
        [`filename*="UTF-8''na%C3%AFve.txt"`, 'naïve.txt'],
        [`filename*=iso-8859-1''na%EFve.txt`, 'naïve.txt'],
        [`filename*=UTF-8''${utf8('naïve.txt')}`, 'naïve.txt'],
        // An extended form that cannot be read.
        [`filename="naive.txt"; filename*=utf-8''na%EFve.txt`, 'naive.txt'],
        [`filename="naive.txt"; filename*=naive`, 'naive.txt'],
        ['filename*=naive.txt', 'naive.txt'],
        // RFC 2231, in pieces.
        [`filename*0="na"; filename*1="ive 5%.txt"`, 'naive 5%.txt'],
        [
          `filename*0*=utf-8''na%C3%; filename*1*=AFve; filename*2=".txt"`,
          'na%C3%AFve.txt'.replace('%C3%AF', 'ï'),
        ],
        // RFC 7578 §2.
        ['filename="na%C3%AFve%20%E4%BD%A0.txt"', 'naïve 你.txt'],
        ['filename="%E9.txt"', '%E9.txt'],
        // RFC 2047, as .NET and mail libraries write it.
        [`filename="=?utf-8?B?${base64('naïve.txt')}?="`, 'naïve.txt'],
        [`filename="=?utf-8?B?${base64('naive')}?="; filename*=utf-8''na%C3%AFve.txt`, 'naïve.txt'],
        ['filename="=?ISO-8859-1?Q?na=EFve_a.txt?="', 'naïve a.txt'],
        ['filename="=?utf-8?q?na=C3?= =?utf-8?q?=AFve?=.txt"', 'naïve.txt'],
        ['filename="a =?utf-8?q?=C3=A9?= b.txt"', 'a é b.txt'],
        ['filename="=?utf-8*de?b?w6k=?=.txt"', 'é.txt'],
        ['filename="=?x-nobody?b?w6k=?=.txt"', '=_x-nobody_b_w6k=_=.txt'],
        ['filename="=?utf-8?q?=E9?=.txt"', '=_utf-8_q_=E9_=.txt'],
      ])('%s', async (parameters, name) => {
        const body = part(`name="cv"; ${parameters}`, 'text') + END
        const { form, fields } = await sendTo({ uploads: UPLOADS }, MULTIPART_TYPE, body)
        expect(fields).toEqual([['cv', name]])
        expect((await listFileRows(server(), form)).map((file) => file.name)).toEqual([name])
      })

      test('in the charset that a later part names, and its field too', async () => {
        const body =
          part('name="\x96\xbc"; filename="\x93\xfa\x96\x7b.txt"', 'text') +
          part('name="_charset_"', 'sjis') +
          END
        const { form, fields } = await sendTo({ uploads: UPLOADS }, MULTIPART_TYPE, body)
        expect(fields).toEqual([['名', '日本.txt']])
        const files = await listFileRows(server(), form)
        expect(files.map((file) => [file.field, file.name])).toEqual([['名', '日本.txt']])
      })
    })

    test.each<[string, string]>([
      [`name*=utf-8''Stra%C3%9Fe`, 'Straße'],
      [`name="=?utf-8?B?${Buffer.from('Straße').toString('base64')}?="`, 'Straße'],
      ['name="100%C3%A9"', '100%C3%A9'],
    ])('has a name written as %s', async (parameters, name) => {
      expect((await sendTo({}, MULTIPART_TYPE, part(parameters) + END)).fields).toEqual([[name, 'v']])
    })
  },
  BEHIND_PROXY,
)
