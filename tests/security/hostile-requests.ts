// Requests that are made to keep a server busy: for each parser that a stranger reaches, the input that costs it most.

import { JSON_TYPE, MULTIPART_TYPE, URLENCODED_TYPE } from '../support/form-requests.ts'

export interface HostileTarget {
  origin: string
  formKey: string
  /** The key of a form that takes one file. */
  uploadKey: string
  linkId: number
}

interface HostileCall {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface HostileRequest {
  name: string
  /** The request is about the target's own form or link, and needs the key of its workspace. */
  ownWorkspace: boolean
  makeRequest: (target: HostileTarget) => HostileCall
}

/** Just below the megabyte that every body may have. */
const BODY = 1024 * 1024 - 300
/** Just below the 900 KB that the page check reads. */
const PAGE = 900 * 1024 - 300
/** Just below the 16 KB that the head of a request may have. */
const HEAD = 15_000

/** Two marks that normalization puts in order: in quadratic time, where nothing bounds their run. */
const MARKS = '\u0316\u0301'

const fill = (part: string, bytes = BODY) => part.repeat(Math.floor(bytes / Buffer.byteLength(part)))
const list = (item: string, bytes = BODY) => `[${fill(`${item},`, bytes)}${item}]`
const items = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i))
const members = (count: number, value = '1') => `{${items(count, (i) => `"k${i}":${value}`).join()}}`
/** A submission that the form stores. */
const withAddress = (object: string) => `{"email":"a@b.co",${object.slice(1)}`
const nest = (open: string, inner: string, close: string, bytes = BODY) => {
  const depth = Math.floor(bytes / (open.length + close.length))
  return open.repeat(depth) + inner + close.repeat(depth)
}
const countries = (count: number) =>
  items(count, (i) => `"${String.fromCharCode(65 + i / 26, 65 + (i % 26))}":"https://example.com/${i}"`)
const link = (more: string) => `{"destinationUrl":"https://example.com/","title":"x"${more && ','}${more}}`
const links = (more: (i: number) => string) => `[${items(100, (i) => link(more(i))).join()}]`

/** JSON that costs every parser and validator, whatever it is sent to. */
const JSON_BODIES: [name: string, body: string][] = [
  ['a list of half a million numbers', `{"a":${list('1')}}`],
  [
    'half a million numbers where a text is expected',
    `{"destinationUrl":${list('1')},"email":${list('1', 10)}}`,
  ],
  ['half a million lists', `{"a":${list('[]')}}`],
  ['half a million objects', `{"a":${list('{}')}}`],
  ['200,000 brackets around __proto__', `{"a":${nest('[', '{"__proto__":1}', ']', 400_000)}}`],
  ['a __proto__ in each of many objects', `{"a":${list('{"__proto__":1}')}}`],
  ['half a million brackets', `{"a":${nest('[', '', ']')}}`],
  ['objects in objects', nest('{"a":', '1', '}')],
  ['80,000 names', members(80_000)],
  ['80,000 names that are numbers', `{${items(80_000, (i) => `"${(i * 7919) % 1_000_003}":1`).join()}}`],
  ['the same name again and again', `{${fill('"a":1,')}"a":1}`],
  ['900 unknown names', members(900)],
  ['900 unknown names in each of 50 lists', `{${items(50, (i) => `"l${i}":[${members(900)}]`).join()}}`],
  ['escapes', `{"a":"${fill('\\u0041')}"}`],
  ['an escape before many numbers', `{"b":"\\u0041","a":${list('1')}}`],
  ['backslashes before quotes', `{"a":"${fill('\\\\\\"')}"}`],
  ['a number of a million digits', `{"a":${fill('1')}}`],
  ['numbers that are hard to round', `{"a":${list('2.2250738585072011e-308')}}`],
  ['white space', `${fill(' ')}{}`],
  ['a text of a megabyte', `{"destinationUrl":"${fill('x')}","email":"x","a":"x"}`],
  ['an unfinished text', `{"a":"${fill('\\\\')}`],
  [
    'marks',
    `{"email":"${fill(MARKS, 250_000)}","password":"${fill(MARKS, 250_000)}","title":"${fill(MARKS, 250_000)}"}`,
  ],
]

const LINK_BODIES: [name: string, body: string][] = [
  ['wrong ids', link(`"tagIds":${list('"a"', 3_900)}`)],
  ['80,000 countries', link(`"geoTargeting":${members(80_000)}`)],
  ['900 wrong countries', link(`"geoTargeting":${members(900)}`)],
  ['a long destination of spaces', `{"destinationUrl":"https://e.com/${fill(' ')}"}`],
  ['a long destination of emoji', `{"destinationUrl":"https://e.com/${fill('😀')}"}`],
  ['a long title of emoji', link(`"comments":"${fill('😀')}"`)],
  ['a long title of one character', link(`"comments":"${fill('é')}"`)],
  ['a slug to compose', link(`"slug":"${fill('e\u0301')}"`)],
  ['a slug to decompose', link(`"slug":"${fill('\u1e69\u0323')}"`)],
  ['a slug of marks', link(`"slug":"${fill(MARKS)}"`)],
  ['tags of marks', link(`"tagNames":["${fill(MARKS)}"]`)],
  ['a host of marks', `{"destinationUrl":"https://a${fill(MARKS, 16_000)}.com/"}`],
  ['a domain of marks', link(`"domain":"a${fill(MARKS)}.com"`)],
  ['a long time', link(`"expiresAt":"${fill('2026-01-01T00:00:00')}"`)],
]

const BULK_BODIES: [name: string, body: string][] = [
  ['half a million numbers', list('1')],
  ['objects without fields', `[${items(1000, () => '{}').join()}]`],
  ['450 unknown names in each link', `[${items(100, () => members(450)).join()}]`],
  ['400 wrong ids in each link', links(() => `"tagIds":${list('"a"', 1_600)}`)],
  ['400 wrong countries in each link', links(() => `"geoTargeting":${members(400)}`)],
  ['a hundred links', links(() => '')],
  ['250 countries in each link', links(() => `"geoTargeting":{${countries(250).join()}}`)],
  ['a hundred tags in each link', links(() => `"tagNames":[${items(100, (i) => `"t${i}"`).join()}]`)],
  [
    'a hundred new tags in each link',
    links((j) => `"tagNames":[${items(100, (i) => `"${j}-${i}"`).join()}]`),
  ],
]

const FORM_BODIES: [name: string, type: string, body: string][] = [
  ['a list of half a million numbers', JSON_TYPE, `{"a":${list('1')}}`],
  ['9,999 numbers in a list', JSON_TYPE, `{"a":[${items(9_990, (i) => `${i}.5`).join()}]}`],
  ['9,999 names', JSON_TYPE, members(9_990)],
  ['80,000 names', JSON_TYPE, members(80_000)],
  ['half a million brackets', JSON_TYPE, `{"a":${nest('[', '', ']')}}`],
  ['objects in objects', JSON_TYPE, nest('{"a":', '1', '}')],
  ['escapes', JSON_TYPE, `{"a":"${fill('\\u0041')}"}`],
  ['NUL', JSON_TYPE, `{"a":"${fill('\\u0000')}"}`],
  ['broken characters', JSON_TYPE, `{"a":"${fill('\\ud800')}"}`],
  ['a full megabyte', JSON_TYPE, members(15, JSON.stringify('É'.repeat(32_000)))],
  ['marks', JSON_TYPE, withAddress(members(7, JSON.stringify(fill(MARKS, 130_000))))],
  ['marks', URLENCODED_TYPE, `email=a@b.co&${items(7, (i) => `k${i}=${fill(MARKS, 130_000)}`).join('&')}`],
  [
    'encoded marks',
    URLENCODED_TYPE,
    `email=a@b.co&${items(2, (i) => `k${i}=${fill(encodeURIComponent(MARKS), 390_000)}`).join('&')}`,
  ],
  [
    'marks in parts',
    MULTIPART_TYPE,
    `--Bd\r\nContent-Disposition: form-data; name="email"\r\n\r\na@b.co\r\n${items(7, (i) => `--Bd\r\nContent-Disposition: form-data; name="k${i}"\r\n\r\n${fill(MARKS, 130_000)}\r\n`).join('')}--Bd--`,
  ],
  [
    'marks and Japanese ones, which become marks',
    JSON_TYPE,
    withAddress(members(6, JSON.stringify(fill('\uff9e\u0301', 160_000)))),
  ],
  ['a host of marks in _next', URLENCODED_TYPE, `_next=https://a${fill(MARKS, 120_000)}.com/`],
  ['250,000 fields', URLENCODED_TYPE, fill('a=1&')],
  ['a million empty fields', URLENCODED_TYPE, fill('&')],
  ['9,990 fields', URLENCODED_TYPE, items(9_990, (i) => `k${i}=1`).join('&')],
  ['9,990 values of a field', URLENCODED_TYPE, items(9_990, () => 'a=1').join('&')],
  ['percent signs', URLENCODED_TYPE, `a=${fill('%41')}`],
  ['encoded NUL', URLENCODED_TYPE, `a=${fill('%00')}`],
  ['a long address', URLENCODED_TYPE, `email=${fill('a@', 60_000)}`],
  ['a long domain', URLENCODED_TYPE, `email=a@${fill('a.', 60_000)}`],
  ['a long event id', URLENCODED_TYPE, `_service_eid=${fill('a', 60_000)}`],
  ['a long captcha token', URLENCODED_TYPE, `cf-turnstile-response=${fill('W1tb', 60_000)}`],
  ['a long _next', URLENCODED_TYPE, `_next=https://a/${fill('%20', 60_000)}`],
  [
    '19,000 parts',
    MULTIPART_TYPE,
    `${fill('--Bd\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n')}--Bd--`,
  ],
  ['parts without headers', MULTIPART_TYPE, fill('--Bd\r\n')],
  ['boundaries that are none', MULTIPART_TYPE, `--Bd\r\n\r\n${fill('\r\n--Bdx')}\r\n--Bd--`],
  [
    'quotes in a name',
    MULTIPART_TYPE,
    `${fill(`--Bd\r\nContent-Disposition: form-data; name="${'" '.repeat(3_900)}\r\n\r\n1\r\n`)}--Bd--`,
  ],
  [
    'blanks in a header',
    MULTIPART_TYPE,
    `${fill(`--Bd\r\nContent-Disposition${' '.repeat(7_900)}x\r\n\r\n1\r\n`)}--Bd--`,
  ],
  [
    'many header lines',
    MULTIPART_TYPE,
    `${fill(`--Bd\r\n${'a:\r\n'.repeat(1_900)}Content-Disposition: form-data; name="a"\r\n\r\n1\r\n`)}--Bd--`,
  ],
]

/** For each field of a form. */
const PATTERNS: [name: string, toPattern: (field: number) => string][] = [
  ['ranges without regard to case', (i) => `(?i)[${'b-\u{10fff0}'.repeat(99)}${i}]`],
  ['repetitions', (i) => `${'x{1000}'.repeat(69)}${i}`],
  ['a repeated group', (i) => `(?:${'ab'.repeat(230)}${i}){1000}`],
  [
    'a few large and many small ones',
    (i) => (i < 20 ? `${'\\p{L}'.repeat(25)}${i}` : `(?i)${'k'.repeat(300)}${i}`),
  ],
]

const PAGES: [name: string, html: string][] = [
  ['tags', fill('<a>', PAGE)],
  ['controls', `<form>${fill('<input name=a>', PAGE)}`],
  ['forms', fill('<form></form>', PAGE)],
  ['controls deep inside', fill('<div class=a>', PAGE / 2) + fill('<input name=a>', PAGE / 2)],
  ['ends without starts', fill('<div>', 5_000) + fill('</x>', PAGE - 5_000)],
  ['attributes', `<form ${items(80_000, (i) => `a${i}=1`).join(' ')}>`],
  ['the same attribute', `<form ${fill('a=1 ', PAGE)}>`],
  ['scripts', fill('<script src=a></script>', PAGE)],
  ['meta elements', fill('<meta http-equiv=content-security-policy content="a b">', PAGE)],
  [
    'a long policy',
    `<meta http-equiv=content-security-policy content="default-src ${fill('a ', PAGE)}"><form>`,
  ],
  [
    'many policies',
    `<meta http-equiv=content-security-policy content="${fill('default-src a,', PAGE)}"><form>`,
  ],
  ['comments', fill('<!---->', PAGE)],
  ['character references', fill('&amp;', PAGE)],
  ['a long style', `<form><input style="${fill('left: ', PAGE)}">`],
  ['a base of marks', `<base href="https://a${fill(MARKS, PAGE)}.com/"><form action="x">`],
  ['an address of marks', `<form action="https://a${fill(MARKS, PAGE)}.com/"></form>`],
  ['a script of marks', `<script src="https://a${fill(MARKS, PAGE)}.com/"></script>`],
  ['a long attribute', `<form action="${fill('a', PAGE)}">`],
]

const QUERIES: [name: string, path: string][] = [
  ['unknown parameters', `/v1/links?${items(1_800, (i) => `k${i}=1`).join('&')}`],
  ['the same parameter', `/v1/links?${fill('a=1&', HEAD)}`],
  ['ids', `/v1/links?tagId=${fill('1,', HEAD)}`],
  ['values of a filter', `/v1/analytics/clicks?country=${fill('a,', HEAD)}`],
  ['escapes in a filter', `/v1/analytics/clicks?country=${fill('\\,', HEAD)}`],
  ['a repeated filter', `/v1/analytics/clicks?${fill('country=US&', HEAD)}`],
  ['a cursor of brackets', `/v1/links?cursor=${Buffer.from('['.repeat(700)).toString('base64url')}`],
  ['percent signs', `/v1/links?search=${fill('%41', HEAD)}`],
  ['keys of forms', `/e/forms?keys=${fill('a,', HEAD)}`],
  ['a query to forward', `/nothing?${fill('a=1&', HEAD)}`],
  ['a slug of percent signs', `/${fill('%41', HEAD)}`],
  ['a slug of marks', `/${fill(encodeURIComponent(MARKS), HEAD)}`],
  ['a slug of marks after a name of ours', `/f/${fill(encodeURIComponent(MARKS), HEAD)}`],
  ['a search of marks', `/v1/links?search=${fill(encodeURIComponent(MARKS), HEAD)}`],
  ['many slashes', `/${fill('/', HEAD)}`],
  ['a token of ours that is none', `/api/auth/reset-password/${fill('a', HEAD)}`],
]

const HEADERS: [name: string, headers: Record<string, string>][] = [
  ['cookies', { Cookie: fill('a=b; ', HEAD) }],
  ['a cookie of percent signs', { Cookie: `towpath_session=${fill('%41', HEAD)}` }],
  ['addresses', { 'X-Forwarded-For': fill('127.0.0.1,', HEAD) }],
  ['addresses that are none', { 'X-Forwarded-For': fill('1,', HEAD) }],
  ['a long user agent', { 'User-Agent': fill('Mozilla/5.0 (', HEAD) }],
  ['what is accepted', { Accept: fill('application/a', HEAD) }],
  ['a referrer of encoded marks', { Referer: `https://a${fill('%CC%96%CC%81', HEAD)}.com/` }],
  ['a long referrer', { Referer: `https://a/${fill('?', HEAD)}` }],
  ['a long language', { 'Accept-Language': fill('en;q=0.1,', HEAD) }],
  ['many headers', Object.fromEntries(items(90, (i) => [`X-${i}`, 'v'.repeat(100)] as never) as never)],
]

const post = (path: string, body: string, type = JSON_TYPE, method = 'POST') => ({
  path,
  method,
  headers: { 'Content-Type': type },
  body,
})

const named = (
  group: string,
  name: string,
  makeRequest: HostileRequest['makeRequest'],
  ownWorkspace = false,
): HostileRequest => ({ name: `${group}: ${name}`, ownWorkspace, makeRequest })

export const hostileRequests: HostileRequest[] = [
  ...JSON_BODIES.flatMap(([name, body]) => [
    named('a link', name, () => post('/v1/links', body)),
    named('many links', name, () => post('/v1/links/bulk', `[${body}]`)),
    named('a sign-in', name, () => post('/api/auth/sign-in/email', body)),
  ]),
  ...LINK_BODIES.map(([name, body]) => named('a link', name, () => post('/v1/links', body))),
  ...BULK_BODIES.map(([name, body]) => named('many links', name, () => post('/v1/links/bulk', body))),
  named('changes', 'half a million ids', () =>
    post('/v1/links/bulk', `{"ids":${list('1')},"data":{}}`, JSON_TYPE, 'PATCH'),
  ),
  named('a form', 'a required field again and again', () =>
    post('/v1/forms', `{"name":"x","requiredFields":${list('"a"', 3_900)}}`),
  ),
  named('a form', 'a long origin', () =>
    post('/v1/forms', `{"name":"x","allowedOrigins":["https://${fill('a.')}"]}`),
  ),
  ...['words', 'emails', 'domains'].map((kind) =>
    named('a form', `${kind} of marks against spam`, () =>
      post('/v1/forms', `{"name":"x","spam":{"${kind}":["${fill(MARKS)}"]}}`),
    ),
  ),
  ...PATTERNS.map(([name, toPattern]) =>
    named('a form with a hundred patterns', name, () => {
      const rules = Object.fromEntries(
        items(100, (i) => [`f${i}`, { pattern: toPattern(i) }] as never) as never,
      )
      return post('/v1/forms', JSON.stringify({ name: 'x', rules }))
    }),
  ),
  named('a channel', 'many recipients', () =>
    post('/v1/channels', `{"type":"email","name":"x","to":${list('"a@b.co"', 8_900)}}`),
  ),
  named('a channel', 'a long address', () =>
    post('/v1/channels', `{"type":"webhook","name":"x","url":"https://${fill('a.')}"}`),
  ),
  ...FORM_BODIES.map(([name, type, body]) =>
    named('a submission', name, ({ formKey }) => post(`/f/${formKey}`, body, type)),
  ),
  ...PAGES.map(([name, html]) =>
    named(
      'a page to check',
      name,
      ({ formKey, origin }) => {
        const page = `<form action="${origin}/f/${formKey}"><input name=email></form>${html}`
        return post(`/v1/forms/${formKey}/check`, JSON.stringify({ html: page }))
      },
      true,
    ),
  ),
  named(
    'a page to check',
    'the form again and again',
    ({ formKey, origin }) => {
      const page = fill(`<form action="${origin}/f/${formKey}"><input name=email></form>`, PAGE)
      return post(`/v1/forms/${formKey}/check`, JSON.stringify({ html: page }))
    },
    true,
  ),
  ...['png', 'svg'].map((format) =>
    named(
      'a QR code',
      `the largest ${format}`,
      ({ linkId }) => ({ path: `/v1/links/${linkId}/qr?format=${format}&size=2048` }),
      true,
    ),
  ),
  ...QUERIES.map(([name, path]) => named('a query', name, () => ({ path }))),
  ...HEADERS.map(([name, headers]) => named('headers', name, () => ({ path: '/v1/links', headers }))),
  ...HEADERS.map(([name, headers]) =>
    named('headers of a visitor', name, () => ({ path: '/nothing', headers })),
  ),
  named('a submission', 'names of marks of more files than it takes', ({ uploadKey }) =>
    post(
      `/f/${uploadKey}`,
      `${fill(`--Bd\r\nContent-Disposition: form-data; name="a"; filename="${fill(MARKS, 7_000)}"\r\n\r\n1\r\n`, 400_000)}--Bd--`,
      MULTIPART_TYPE,
    ),
  ),
  ...['u', 'r'].map((name) =>
    named('a page view', `a host of marks (${name})`, () =>
      post('/e', JSON.stringify({ w: 'x', u: 'https://a/', [name]: `https://a${fill(MARKS, 7_000)}.com/` })),
    ),
  ),
  named('a page view', 'brackets', () => post('/e', `{"w":"x","u":${nest('[', '', ']', 8_000)}}`)),
  named('a page view', 'a long event id', () =>
    post('/e', `{"w":"x","u":"https://a/","e":"${fill('a', 8_000)}"}`),
  ),
  named('a password', 'many fields', () => post('/nothing', fill('a=1&', 16_000), URLENCODED_TYPE)),
  named('the API reference', 'openapi.json', () => ({ path: '/v1/openapi.json' })),
]
