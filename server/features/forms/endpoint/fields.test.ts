// Stored fields and field errors of a submission: the same in every content type.

import { describe, expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  JSON_TYPE,
  MULTIPART_TYPE,
  NAVIGATION_HEADERS,
  SCRIPT_HEADERS,
  toMultipart,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

const PAGE = 'https://site.example/contact'

onBothEngines(
  'a submission',
  (server) => {
    describe('stores what was sent', () => {
      const cases: [string, [string, string][], [string, string][]][] = [
        [
          'repeated names as one text',
          [
            ['o', '1'],
            ['x', 'y'],
            ['o', '2'],
          ],
          [
            ['o', '1, 2'],
            ['x', 'y'],
          ],
        ],
        [
          "the sender's order, with names that are numbers",
          [
            ['b', '1'],
            ['10', '2'],
            ['2', '3'],
            ['a', '4'],
          ],
          [
            ['b', '1'],
            ['10', '2'],
            ['2', '3'],
            ['a', '4'],
          ],
        ],
        [
          'names that objects have',
          [
            ['__proto__', '1'],
            ['constructor', '2'],
            ['toString', '3'],
            ['hasOwnProperty', '4'],
          ],
          [
            ['constructor', '2'],
            ['toString', '3'],
            ['hasOwnProperty', '4'],
          ],
        ],
        [
          'brackets and dots in names',
          [
            ['n[]', '1'],
            ['n[]', '2'],
            ['a[0].b', '3'],
          ],
          [
            ['n[]', '1, 2'],
            ['a[0].b', '3'],
          ],
        ],
        [
          'text as it is',
          [
            ['t', '  <b>ü\r\n"é"\t😀 &amp; '],
            ['e', ''],
          ],
          [
            ['t', '  <b>ü\r\n"é"\t😀 &amp; '],
            ['e', ''],
          ],
        ],
        [
          'no empty names, no control fields',
          [
            ['', 'x'],
            ['_x', 'y'],
            ['_service_eid', 'forged'],
            ['_next', 'javascript:1'],
            ['cf-turnstile-response', 't'],
            ['a', '1'],
            ['_gotcha', ''],
          ],
          [['a', '1']],
        ],
        [
          'no NUL',
          [
            ['a\0b', 'c\0d'],
            ['\0', 'x'],
            ['\0_y', 'z'],
          ],
          [['ab', 'cd']],
        ],
        ['nothing, where nothing was sent', [], []],
        [
          'names next to control fields',
          [
            ['a_', '1'],
            [' _a', '2'],
            ['CF-Turnstile-Response', '3'],
          ],
          [
            ['a_', '1'],
            [' _a', '2'],
            ['CF-Turnstile-Response', '3'],
          ],
        ],
      ]
      test.each(cases)('%s, the same in every content type', async (_, sent, kept) => {
        const form = await createTestForm(server())
        const grouped = Map.groupBy(sent, ([name]) => name)
        const json = Array.from(grouped, ([name, values]) => {
          const texts = values.map(([, value]) => value)
          return `${JSON.stringify(name)}:${JSON.stringify(texts.length > 1 ? texts : texts[0])}`
        })
        const answers = [
          await form.fetch(new URLSearchParams(sent).toString()),
          await form.post(
            MULTIPART_TYPE,
            toMultipart(sent.map(([name, value]) => ({ name, value }))),
            SCRIPT_HEADERS,
          ),
          await form.json(`{${json.join(', ')}}`, SCRIPT_HEADERS),
        ]
        expect(answers.map(({ text }) => text)).toEqual(['{"ok":true}', '{"ok":true}', '{"ok":true}'])
        expect(await form.fields()).toEqual([kept, kept, kept])
      })

      test.each<[string, [string, string][]]>([
        [
          '{"n":1.50,"big":12345678901234567890,"t":true,"f":false,"z":null}',
          [
            ['n', '1.50'],
            ['big', '12345678901234567890'],
            ['t', 'true'],
            ['f', 'false'],
            ['z', ''],
          ],
        ],
        [
          '{"l":["1",2,true,null,12345678901234567890],"e":[]}',
          [
            ['l', '1, 2, true, , 12345678901234567890'],
            ['e', ''],
          ],
        ],
        [
          ' { "a" : "x\\"},{" , "b":"\\\\" , "\\u0063":"\\ud83d\\ude00" } ',
          [
            ['a', 'x"},{'],
            ['b', '\\'],
            ['c', '😀'],
          ],
        ],
        [
          '{"a":"1","a":"2","half":"x\\ud800y"}',
          [
            ['a', '1, 2'],
            ['half', 'xy'],
          ],
        ],
      ])('JSON %s', async (body, kept) => {
        const form = await createTestForm(server())
        expect((await form.json(body)).text).toBe('{"ok":true}')
        expect(await form.fields()).toEqual([kept])
      })

      test.each<[string, string, [string, string][]]>([
        [
          'a key without a value',
          'k&=x&l=',
          [
            ['k', ''],
            ['l', ''],
          ],
        ],
        ['a question mark at the beginning', '?a=1', [['?a', '1']]],
        ['letters that are not escaped', 'name=Zoë', [['name', 'Zoë']]],
        ['bytes that are no UTF-8', 'n=%E9%', [['n', 'é%']]],
      ])('of a form: %s', async (_, body, kept) => {
        const form = await createTestForm(server())
        expect((await form.fetch(body)).text).toBe('{"ok":true}')
        expect(await form.fields()).toEqual([kept])
      })

      test('up to the limits, counted in characters', async () => {
        const form = await createTestForm(server())
        const fields = Array.from({ length: 255 }, (_, i): [string, string] => [`f${i}`, '1'])
        const sent: [string, string][] = [...fields, ['😀'.repeat(256), '😀'.repeat(65_536)]]
        const body = JSON.stringify(Object.fromEntries(sent))
        expect((await form.json(body)).text).toBe('{"ok":true}')
        expect(await form.fields()).toEqual([sent])
      })
    })

    describe('says what is wrong', () => {
      const REQUIRED = 'This field is required'
      const EMAIL = 'Enter a valid email address'
      const FILE = 'File uploads are not supported'
      const NESTED = 'Must be a string'
      const file = (name: string, chosen: string, value = '') => ({ name, value, file: chosen })
      const cases: [string, string[], string, string, Record<string, string> | undefined][] = [
        ['a required field that is missing', ['name'], URLENCODED_TYPE, 'a=1', { name: REQUIRED }],
        ['a required field that is blank', ['name'], URLENCODED_TYPE, 'name=+%09%0D%0A', { name: REQUIRED }],
        ['a required field that is empty twice', ['o'], URLENCODED_TYPE, 'o=&o=', { o: REQUIRED }],
        ['a required field that is filled once', ['o'], URLENCODED_TYPE, 'o=&o=1', undefined],
        [
          'required fields by names that objects have',
          ['constructor', 'toString'],
          URLENCODED_TYPE,
          'a=1',
          JSON.parse(`{"constructor":"${REQUIRED}","toString":"${REQUIRED}"}`),
        ],
        ['null for a required field', ['a'], JSON_TYPE, '{"a":null}', { a: REQUIRED }],
        ['an empty list for a required field', ['a'], JSON_TYPE, '{"a":[]}', { a: REQUIRED }],
        ['false for a required field is text', ['a'], JSON_TYPE, '{"a":false}', undefined],
        ['an address that is none', [], URLENCODED_TYPE, 'email=nobody', { email: EMAIL }],
        ['an address without a dot', [], URLENCODED_TYPE, 'email=a%40b', { email: EMAIL }],
        [
          'an address with another header',
          [],
          URLENCODED_TYPE,
          'email=a%40b.co%0D%0ABcc:c%40d.ef',
          { email: EMAIL },
        ],
        ['two addresses', [], URLENCODED_TYPE, 'email=a%40b.co&email=c%40d.ef', { email: EMAIL }],
        ['an address with space around', [], URLENCODED_TYPE, 'email=+a%40b.co+', undefined],
        ['an address that is blank', [], URLENCODED_TYPE, 'email=+', undefined],
        ['an address that is blank and required', ['email'], URLENCODED_TYPE, 'email=+', { email: REQUIRED }],
        ['another name is no address', [], URLENCODED_TYPE, 'Email=x&e-mail=y', undefined],
        ['an object', [], JSON_TYPE, '{"a":{"b":1},"c":"1"}', { a: NESTED }],
        ['a list in a list', ['a'], JSON_TYPE, '{"a":["1",["2"]]}', { a: NESTED }],
        ['31 brackets', [], JSON_TYPE, `{"a":${'['.repeat(31)}${']'.repeat(31)}}`, { a: NESTED }],
        [
          'a file',
          [],
          MULTIPART_TYPE,
          toMultipart([file('cv', 'cv.pdf', 'x'), { name: 'a', value: '1' }]),
          { cv: FILE },
        ],
        [
          'a file for a required field',
          ['cv'],
          MULTIPART_TYPE,
          toMultipart([file('cv', 'cv.pdf')]),
          { cv: FILE },
        ],
        [
          'no file for a required field',
          ['cv'],
          MULTIPART_TYPE,
          toMultipart([file('cv', '')]),
          { cv: REQUIRED },
        ],
        ['no file', [], MULTIPART_TYPE, toMultipart([file('cv', ''), { name: 'a', value: '1' }]), undefined],
        [
          'several things at once',
          ['name', 'email'],
          JSON_TYPE,
          '{"email":"x","o":{}}',
          { name: REQUIRED, o: NESTED, email: EMAIL },
        ],
      ]
      test.each(cases)('%s', async (_, requiredFields, type, body, errors) => {
        const form = await createTestForm(server(), { requiredFields })
        const answer = await form.post(type, body, SCRIPT_HEADERS)
        const expected = errors ? { ok: false, errors } : { ok: true }
        expect([answer.status, answer.json]).toEqual([errors ? 422 : 200, expected])
        expect(Object.keys(answer.json.errors ?? {})).toEqual(Object.keys(errors ?? {}))
        expect(await form.submissions()).toHaveLength(errors ? 0 : 1)
        if (type === JSON_TYPE) return
        const native = await form.post(type, body, {
          ...NAVIGATION_HEADERS,
          Referer: `${PAGE}?a=1&_errors=old`,
        })
        expect(native.status).toBe(303)
        const target = new URL(native.headers.get('location') as string)
        expect(target.href).toStartWith(`${PAGE}?a=1`)
        const back = target.searchParams.getAll('_errors').map((text) => JSON.parse(text))
        expect(back).toEqual(errors ? [errors] : [])
      })

      test('on a page of our own where the browser sends no Referer, without what was typed', async () => {
        const form = await createTestForm(server(), { requiredFields: ['<b>name</b>'] })
        const answer = await form.navigate('email=%3Cscript%3Esecret')
        expect([answer.status, answer.headers.get('location')]).toEqual([422, null])
        expect(answer.text).toContain('&lt;b&gt;name&lt;/b&gt;')
        expect(answer.text).toContain('Enter a valid email address')
        expect(answer.text).toContain('role="alert"')
        expect(answer.text).toContain('lang="en"')
        expect(answer.text).not.toContain('secret')
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
        const program = await form.post(URLENCODED_TYPE, '', { Accept: '*/*' })
        expect([program.status, program.json]).toEqual([
          422,
          { ok: false, errors: { '<b>name</b>': 'This field is required' } },
        ])
      })
    })
  },
  BEHIND_PROXY,
)
