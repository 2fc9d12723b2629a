import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MULTIPART_TYPE, toMultipart } from '../../../../tests/support/form-requests.ts'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { EndpointError } from './endpoint-error.ts'
import { createMultipartReader, findPartsCharset, readParts, toEntries } from './multipart.ts'

const read = (body: string, type = MULTIPART_TYPE) => {
  const parts = [...readParts(new TextEncoder().encode(body), type)]
  return [...toEntries(parts, findPartsCharset(parts, type))]
}
const part = (headers: string, value = 'v') => `--Bd\r\n${headers}\r\n\r\n${value}\r\n`
const named = (name: string, value?: string) => part(`Content-Disposition: form-data; ${name}`, value)
const END = '--Bd--\r\n'

describe('reads what browsers and programs write', () => {
  test.each<[string, string, object[]]>([
    [
      'fields in order',
      named('name="10"', '1') + named('name="b"', '2') + named('name="10"', '3') + END,
      [
        { name: '10', value: '1' },
        { name: 'b', value: '2' },
        { name: '10', value: '3' },
      ],
    ],
    ['nothing', END, []],
    ['text before and after', `junk\r\n${named('name="a"')}${END}more`, [{ name: 'a', value: 'v' }]],
    ['no line end at the end', `${named('name="a"')}--Bd--`, [{ name: 'a', value: 'v' }]],
    [
      'blanks behind the boundary',
      named('name="a"').replace('--Bd', '--Bd \t') + END,
      [{ name: 'a', value: 'v' }],
    ],
    ['any case', part('content-DISPOSITION:FORM-data; NAME="a"') + END, [{ name: 'a', value: 'v' }]],
    ['a name without quotes', named('name=a') + END, [{ name: 'a', value: 'v' }]],
    [
      'a name with characters that browsers escape',
      named('name="a%22b%0D%0Ac"') + END,
      [{ name: 'a"b\r\nc', value: 'v' }],
    ],
    ['a name with an old escape', named('name="a\\"b"') + END, [{ name: 'a"b', value: 'v' }]],
    ['a name that ends with a backslash', named('name="a\\"') + END, [{ name: 'a\\', value: 'v' }]],
    ['a name with other percents', named('name="100%25"') + END, [{ name: '100%25', value: 'v' }]],
    ['an empty name', named('name=""') + END, [{ name: '', value: 'v' }]],
    ['an empty value', named('name="a"', '') + END, [{ name: 'a', value: '' }]],
    [
      'lines, dashes and half a boundary in a value',
      named('name="a"', 'x\r\n--Bdx\r\n\r\n--B--\r\n') + END,
      [{ name: 'a', value: 'x\r\n--Bdx\r\n\r\n--B--\r\n' }],
    ],
    [
      'bytes that are no UTF-8, and a byte order mark',
      named('name="a"', '\ufeffü') + END,
      [{ name: 'a', value: '\ufeffü' }],
    ],
    [
      'a file input where nothing was chosen',
      named('name="cv"; filename=""\r\nContent-Type: application/octet-stream', '') + END,
      [{ name: 'cv', file: 'none' }],
    ],
    ['a file', named('name="cv"; filename="cv.pdf"') + END, [{ name: 'cv', file: 'chosen' }]],
    ['an empty file', named('name="cv"; filename="cv.pdf"', '') + END, [{ name: 'cv', file: 'chosen' }]],
    [
      'a file with the name of a parameter',
      named('filename="x; name=y"; name="cv"') + END,
      [{ name: 'cv', file: 'chosen' }],
    ],
    [
      'other headers',
      part('X: 1\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain') + END,
      [{ name: 'a', value: 'v' }],
    ],
  ])('%s', (_, body, entries) => {
    expect(read(body) as object[]).toEqual(entries)
  })

  test.each(['multipart/form-data; boundary="Bd"', 'Multipart/Form-Data; charset=utf-8; Boundary=Bd; x=y'])(
    'under %s',
    (type) => {
      expect(read(named('name="a"') + END, type)).toEqual([{ name: 'a', value: 'v' }])
    },
  )
})

describe('names the mistake', () => {
  const cases: [string, string, RegExp, string][] = [
    ['of a header without a boundary', named('name="a"') + END, /no boundary/, 'multipart/form-data'],
    ['of an empty boundary', named('name="a"') + END, /no boundary/, 'multipart/form-data; boundary='],
    [
      'of another boundary',
      named('name="a"') + END,
      /no line with the boundary/,
      'multipart/form-data; boundary=Cd',
    ],
    ['of an empty body', '', /no line with the boundary/, MULTIPART_TYPE],
    [
      'of lines that end without CR',
      (named('name="a"') + END).replaceAll('\r', ''),
      /no line with the boundary/,
      MULTIPART_TYPE,
    ],
    [
      'of a body that is cut off in a value',
      named('name="a"', 'long').slice(0, -4),
      /cut off/,
      MULTIPART_TYPE,
    ],
    ['of a body that is cut off after a part', named('name="a"'), /cut off/, MULTIPART_TYPE],
    [
      'of a part without a name',
      part('Content-Disposition: form-data; filename="x"') + END,
      /no Content-Disposition/,
      MULTIPART_TYPE,
    ],
    ['of a part without headers', `--Bd\r\n\r\nv\r\n${END}`, /no Content-Disposition/, MULTIPART_TYPE],
    ['of a part that is nothing', `--Bd\r\n${END}`, /no Content-Disposition/, MULTIPART_TYPE],
    ['of a quote that is left open', named('name="a') + END, /no Content-Disposition/, MULTIPART_TYPE],
    [
      'of a part that is no form field',
      part('Content-Disposition: attachment; name="a"') + END,
      /no Content-Disposition/,
      MULTIPART_TYPE,
    ],
  ]
  test.each(cases)('%s', (_, body, message, type) => {
    expect(() => read(body, type)).toThrow(message)
  })
})

test('reads any fields as they were written', () => {
  const text = fc.string({ unit: 'grapheme' })
  // Names that look like escapes, which no page has.
  const name = text.filter((one) => !/%22|%0[ad]|\\"|\\$/i.test(one) && !/"\s*;/.test(one))
  const field = fc.record({ name, value: text })
  fc.assert(
    fc.property(fc.array(field, { maxLength: 8 }), (fields) => {
      expect(read(toMultipart(fields)) as object[]).toEqual(fields)
    }),
  )
})

/** The parts of a body, read in chunks of these sizes, with their contents joined; a mistake as its message. */
function readInChunks(body: string, sizes: number[]): unknown[] {
  const said: unknown[] = []
  const reader = createMultipartReader(MULTIPART_TYPE)
  let rest = Buffer.from(body)
  let content = ''
  try {
    for (let i = 0; rest.length > 0; i++) {
      const size = sizes[i % sizes.length] as number
      for (const event of reader.read(rest.subarray(0, size))) {
        if ('content' in event) content += event.content.toString('latin1')
        else if ('head' in event) said.push(event.head)
        else said.push(content)
        if (!('content' in event)) content = ''
      }
      rest = rest.subarray(size)
    }
    reader.end()
  } catch (error) {
    said.push((error as Error).message)
  }
  return said
}

test('says the same however the body is cut into chunks', () => {
  const piece = fc.constantFrom(
    '--Bd',
    '--Bd--',
    '\r\n',
    '\r\n\r\n',
    '\r',
    '\n',
    '-',
    '--B',
    'x',
    ' \t',
    'name="a"',
    '; filename="b"',
    named('name="a"'),
    named('name="f"; filename="x"'),
    'Content-Disposition: form-data; name="a"',
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), sizes, (pieces, sizes) => {
      const body = pieces.join('')
      expect(readInChunks(body, sizes)).toEqual(readInChunks(body, [body.length + 1]))
    }),
    { numRuns: 1_000 },
  )
})

test('a name may contain U+2028, a line end in JavaScript', () => {
  const fields = [
    { name: 'a\u2028b', value: 'x' },
    { name: '\u2029', value: '' },
  ]
  expect(read(toMultipart(fields)) as object[]).toEqual(fields)
})

test('hostile headers take no more time than ordinary ones', async () => {
  const hostile = [
    ';a="'.repeat(2_000),
    '; a=b'.repeat(1_600),
    `; name="${'"'.repeat(7_000)}`,
    `; name=${'a"'.repeat(3_500)}`,
  ]
  const spent = await measureProcessorMs(() => {
    for (const one of hostile) {
      const body = part(`Content-Disposition: form-data${one}`).repeat(100) + END
      try {
        read(body)
      } catch (error) {
        expect(error).toBeInstanceOf(EndpointError)
      }
    }
    const boundaries = `${'\r\n--Bd'.repeat(150_000)}`
    expect(() => read(named('name="a"', boundaries))).toThrow()
  })
  expect(spent).toBeLessThan(8_000)
})
