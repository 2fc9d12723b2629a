// Hostile input: texts, values and whole bodies that have broken other services.

export const NUL = 'a\0b'
export const LONE_SURROGATES = ['\ud800', 'x\udc00y', '\udfff\ud800']

/** Well-formed Unicode texts that often cause bugs. */
export const ODD_TEXTS = [
  '\u202egnp.exe',
  '\u200f\u061c\u2066',
  '\ufeff',
  '😀\u{10ffff}\u{1f468}\u200d\u{1f469}',
  'e\u0301 and é',
  `'"\`\\`,
  "'; DROP TABLE links; --",
  "' OR '1'='1",
  '%_\\',
  '%00',
  '__proto__',
  'constructor',
  'toString',
  '../../../etc/passwd',
  '<script>alert(1)</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a template injection looks like
  '${7*7}{{7*7}}',
  'line\r\nX-Injected: 1',
  '\t',
  ' ',
  '',
  'NaN',
  'Infinity',
  '-Infinity',
  '-1',
  '1e400',
  '0x10',
  '1.5',
  '99999999999999999999999999',
  '１２',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '[object Object]',
  '2026-02-30T00:00:00Z',
  '+275761-01-01T00:00:00Z',
]

export const LONG_TEXT = 'x'.repeat(100_000)

/** URLs that a link's destination must never be, however a parser reads them. */
export const BAD_URLS = [
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  ' JavaScript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  'blob:https://example.com/1',
  'ftp://example.com/',
  'myapp:open',
  '//example.com/',
  '/relative',
  'http://',
  'https://user:password@example.com/',
  'https://user@example.com/',
  'https://exa mple.com/',
  'https://[::1',
  'https://example.com:99999/',
  'https://example.com/\0',
  'https://example.com/\ud800',
  'https://%00/',
]

/** A placeholder for a number that `JSON.stringify` cannot write. */
const literal = (text: string) => `@@${text}@@`

export const ODD_VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0.000001,
  2 ** 53,
  1e21,
  literal('1e400'),
  literal('-1e400'),
  literal(`1${'0'.repeat(400)}`),
  'text',
  [],
  [null],
  ['text'],
  [[]],
  [1, 'two', {}],
  {},
  { a: 1 },
  { length: 1, 0: 'x' },
  { toString: 'x', valueOf: 1 },
  createObjectWithKey('__proto__', { admin: true }),
  createObjectWithKey('constructor', { prototype: { admin: true } }),
  Array.from({ length: 1000 }, () => 1),
  nested(3000, (inner) => [inner]),
  nested(3000, (inner) => ({ a: inner })),
]

/** An object with an own key such as `__proto__`, as `JSON.parse` creates it. */
export function createObjectWithKey(name: string, value: unknown): object {
  return Object.fromEntries([[name, value]])
}

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}

/** JSON text with the placeholders replaced by their numbers. */
export const toRawJson = (value: unknown) => JSON.stringify(value).replace(/"@@(.*?)@@"/g, '$1')
/** The value as the server parses it. */
export const toServerValue = (value: unknown) => JSON.parse(toRawJson(value))

export const UNKNOWN_NAMES = [
  'unknown',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'destinationurl',
  'workspaceId',
  'workspace_id',
  'a.b',
  'a[b]',
  '$where',
  '\u202e',
  'x'.repeat(5000),
]

const JSON_TYPE = 'application/json'

/** Bodies that are no valid JSON object, with their content type and the expected status. */
export const BAD_BODIES: {
  what: string
  type: string | undefined
  bytes: string | Uint8Array
  status?: number
}[] = [
  { what: 'nothing', type: JSON_TYPE, bytes: '', status: 400 },
  { what: 'spaces', type: JSON_TYPE, bytes: '  \n ', status: 400 },
  { what: 'half an object', type: JSON_TYPE, bytes: '{"a":', status: 400 },
  { what: 'two objects', type: JSON_TYPE, bytes: '{}{}', status: 400 },
  { what: 'single quotes', type: JSON_TYPE, bytes: "{'a':1}", status: 400 },
  { what: 'a comment', type: JSON_TYPE, bytes: '{/* */}', status: 400 },
  { what: 'a trailing comma', type: JSON_TYPE, bytes: '{"a":1,}', status: 400 },
  { what: 'NaN', type: JSON_TYPE, bytes: '{"a":NaN}', status: 400 },
  { what: 'a raw line break in a text', type: JSON_TYPE, bytes: '{"a":"\n"}', status: 400 },
  {
    what: 'bytes that are no UTF-8',
    type: JSON_TYPE,
    bytes: Uint8Array.of(123, 34, 255, 34, 58, 49, 125),
    status: 400,
  },
  { what: 'UTF-16', type: JSON_TYPE, bytes: Buffer.from('{}', 'utf16le'), status: 400 },
  { what: 'null', type: JSON_TYPE, bytes: 'null', status: 400 },
  { what: 'a text', type: JSON_TYPE, bytes: '"text"', status: 400 },
  { what: 'a number', type: JSON_TYPE, bytes: '1', status: 400 },
  { what: '100,000 open brackets', type: JSON_TYPE, bytes: '['.repeat(100_000), status: 400 },
  { what: '100,000 lists in lists', type: JSON_TYPE, bytes: '['.repeat(100_000) + ']'.repeat(100_000) },
  {
    what: '100,000 objects in objects',
    type: JSON_TYPE,
    bytes: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  },
  { what: 'a megabyte and a byte', type: JSON_TYPE, bytes: ' '.repeat(1024 * 1024 + 1), status: 413 },
  { what: 'no type', type: undefined, bytes: Buffer.from('{}'), status: 415 },
  { what: 'plain text', type: 'text/plain', bytes: '{}', status: 415 },
  { what: 'a form', type: 'application/x-www-form-urlencoded', bytes: 'destinationUrl=x', status: 415 },
  { what: 'a form with parts', type: 'multipart/form-data; boundary=x', bytes: '--x--', status: 415 },
  { what: 'a type that only begins like JSON', type: 'application/json5', bytes: '{}', status: 415 },
]

/** Invalid percent-encodings, and percent-encodings of invalid UTF-8. */
export const BAD_ENCODINGS = ['%', '%4', '%zz', '%C3', '%C3%28', '%FF', '%ED%A0%80', '%F5%80%80%80', '%C0%AF']
