import { expect, test } from 'bun:test'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { createSite } from '../../../start/site.ts'
import { parseDomainName } from './domain-name.ts'

const site = createSite({
  origin: 'https://links.host.example',
  port: 3000,
  aliases: ['old.host.example'],
  destinationSchemes: [],
  snippetPath: 't.js',
  intakePath: 'e',
} as Parameters<typeof createSite>[0])
const parse = (text: string) => parseDomainName(text, site)

test.each([
  ['go.acme.com', 'go.acme.com'],
  ['acme.com', 'acme.com'],
  ['GO.Acme.COM', 'go.acme.com'],
  [' go.acme.com ', 'go.acme.com'],
  ['go.acme.com.', 'go.acme.com'],
  ['München.de', 'xn--mnchen-3ya.de'],
  ['MÜNCHEN.DE', 'xn--mnchen-3ya.de'],
  ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
  ['mu\u0308nchen.de', 'xn--mnchen-3ya.de'],
  ['faß.de', 'xn--fa-hia.de'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['日本語とabc.jp', 'xn--abc-vb4bo25ycvb2w6i.jp'],
  ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  // All letters of one part are Cyrillic. Such a name is allowed: Towpath shows its ASCII form only.
  ['аррӏе.com', 'xn--80ak6aa92e.com'],
  ['☕.ws', 'xn--53h.ws'],
  ['a.github.io', 'a.github.io'],
  ['a--b.com', 'a--b.com'],
  ['0x7f.com', '0x7f.com'],
  ['1.2.3.com', '1.2.3.com'],
])('%p is the domain %p', (text, name) => {
  expect(parse(text)).toEqual({ name })
})

const NO_ADDRESS = 'must be a name, not an IP address'
const EMPTY = 'must not have an empty part before, between or after its dots'
const NOT_IDNA = 'is not a name that browsers can open (IDNA)'
const MIXED = 'must not mix letters of several scripts in one part: it could be taken for another name'
const OURS = 'is a name of this server, which every workspace can use'
const HYPHEN = 'must not have a hyphen at the beginning or the end of a part'
const ALONE = 'must be a name alone, such as go.example.com, without https:// and a path'
const LONG = 'must be at most 244 characters: DNS has room for 253, and _towpath. stands before it'
const toSuffix = (name: string) =>
  `is a public suffix, below which everybody has names: add a name such as go.${name}`
const repeat = (label: string, length: number) =>
  `${`${label}.`.repeat(200)}com`.slice(-length).replace(/^\./, 'x')

test.each([
  ['', 'must be a name, such as go.example.com'],
  ['.', 'must be a name, such as go.example.com'],
  ['a\0.com', 'must be a name, such as go.example.com'],
  ['\ud800.com', 'must be a name, such as go.example.com'],
  ['127.0.0.1', NO_ADDRESS],
  ['0x7f.1', NO_ADDRESS],
  ['0x7f000001', NO_ADDRESS],
  ['2130706433', NO_ADDRESS],
  ['0177.0.0.1', NO_ADDRESS],
  ['127.1', NO_ADDRESS],
  ['1.2.3.4.', NO_ADDRESS],
  ['１２７.0.0.１', NO_ADDRESS],
  ['a.b.1', NO_ADDRESS],
  ['a.0x1f', NO_ADDRESS],
  ['::1', NO_ADDRESS],
  ['[::1]', NO_ADDRESS],
  ['[::1]:80', NO_ADDRESS],
  ['[::ffff:1.2.3.4]', NO_ADDRESS],
  ['fe80::1%eth0', NO_ADDRESS],
  ['go.acme.com:443', 'must not have a port: a domain answers on each port of this server'],
  ['https://go.acme.com', ALONE],
  ['go.acme.com/path', ALONE],
  ['go.acme.com\\path', ALONE],
  ['user@acme.com', ALONE],
  ['go.acme.com?a', ALONE],
  ['go.acme.com#a', ALONE],
  ['*.acme.com', 'must not have a wildcard: add each name by itself'],
  ['_dmarc.acme.com', 'must not have an underscore: the names of hosts have none'],
  ['go acme.com', 'must not have spaces or encodings with %'],
  ['go%2eacme.com', 'must not have spaces or encodings with %'],
  ['a..com', EMPTY],
  ['.acme.com', EMPTY],
  ['acme.com..', EMPTY],
  ['a。。com', EMPTY],
  ['localhost', 'must have a dot, as go.example.com has'],
  ['acme', 'must have a dot, as go.example.com has'],
  ['-go.acme.com', HYPHEN],
  ['go-.acme.com', HYPHEN],
  ["o'neill.com", 'may have letters, digits, hyphens and dots only'],
  ['a\u200db.com', NOT_IDNA],
  ['\u202eabc.com', NOT_IDNA],
  ['xn--a.com', NOT_IDNA],
  ['xn--.com', NOT_IDNA],
  ['a<b.com', NOT_IDNA],
  [`${'x'.repeat(64)}.com`, 'must have at most 63 characters between two dots'],
  [repeat('abc', 254), LONG],
  [repeat('abc', 245), LONG],
  ['аpple.com', MIXED],
  ['xn--pple-43d.com', MIXED],
  ['go.αcme.com', MIXED],
  ['co.uk', toSuffix('co.uk')],
  ['github.io', toSuffix('github.io')],
  ['s3.amazonaws.com', toSuffix('s3.amazonaws.com')],
  ['公司.cn', toSuffix('xn--55qx5d.cn')],
  ['links.host.example', OURS],
  ['LINKS.host.example.', OURS],
])('%p is refused: %s', (text, wrong) => {
  expect(parse(text)).toEqual({ wrong })
})

test('names of 244 characters are the longest', () => {
  expect(parse(repeat('abc', 244))).toEqual({ name: repeat('abc', 244) })
})

test('any text is a name that browsers, DNS and this check agree on, or is refused', () => {
  const label = fc.oneof(
    fc.domain(),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('xn--', '1', '0x7f', 'ü', 'а', 'a', '-', '。', '%41', '\u00ad', '_', '*', 'com', 'io'),
  )
  const text = fc
    .array(label, { maxLength: 6 })
    .chain((labels) => fc.constantFrom('.', '').map((dot) => labels.join(dot)))
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parse(given)
      if ('wrong' in parsed) return expect(parsed.wrong.length).toBeGreaterThan(10)
      const { name } = parsed
      expect(name).toMatch(/^(?=.{3,244}$)(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/)
      expect(isIP(name)).toBe(0)
      expect(URL.parse(`https://${name}/`)?.host).toBe(name)
      expect(site.isOwnHost(name)).toBe(false)
      expect(parse(name)).toEqual({ name })
      expect(parse(`${name.toUpperCase()}.`)).toEqual({ name })
    }),
    { numRuns: atScale({ quick: 300, full: 3_000, soak: 100_000 }) },
  )
})
